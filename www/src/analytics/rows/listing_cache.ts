import { signal } from "@preact/signals";
import type { Client } from "quillgate";
import type { Entry } from "../../session/person_data.ts";
import { currentTime } from "../../shell/clock_skew.ts";
import { type Limit, usedUpUntil } from "../../shell/rate_limit.ts";
import {
  type Bounds,
  boundsOf,
  type DayRange,
  DEFAULT_FRESHNESS_MS,
  findEarlierBounds,
  isSameRange,
} from "../period/range.ts";
import { freshnessOf } from "../period/staleness.ts";
import { type Goal, Listing, type Source } from "./listing.ts";
import type { Report } from "./report.ts";

const LISTINGS_KEPT = 12;

/** A stored value that survives a reload of the page. */
export type Memory = Pick<Entry, "read" | "write">;

/**
 * The gateway's cache lifetime for running ranges in milliseconds, and the latest answered bounds
 * of each range.
 */
interface Answered {
  freshness: number;
  bounds: Record<string, Bounds>;
}

const FORGETFUL: Memory = { read: () => null, write: () => "until reload" };
const RANGES_REMEMBERED = 20;

/** Caches recent listings. Returning to one costs no request of the hourly limit. */
export class ListingCache {
  /** The rate limit from the latest response. */
  readonly limit = signal<Limit | null>(null);
  /** The listing that Refresh loads. It then replaces the listing on the screen. */
  readonly renewal = signal<Listing | null>(null);
  /** The number of pages in the sitemap; 0 if unknown. */
  readonly sitemapPages = signal(0);
  /** The ended days of the chart if the archive has all of them; null otherwise. */
  readonly endedDays = signal<DayRange | null>(null);
  readonly client: Client;
  readonly #kept = signal<readonly Listing[]>([]);
  readonly #earlier = signal<readonly Listing[]>([]);
  readonly #ended: AbortSignal;
  readonly #memory: Memory;
  readonly #answered: Answered;
  /** The report and range on the screen. Opening them again has no effect. */
  #opened: string | null = null;
  #openedEarlier: Listing | null = null;

  /** @param isArchived whether the gateway archives the project's views */
  constructor(
    client: Client,
    ended: AbortSignal,
    memory: Memory = FORGETFUL,
    readonly isArchived = false,
  ) {
    this.client = client;
    this.#ended = ended;
    this.#memory = memory;
    this.#answered = readAnswered(memory.read());
  }

  /** Returns the listing of a range; null if it is not cached. */
  find(report: Report, range: DayRange): Listing | null {
    return this.#kept.value.find((kept) => isOf(kept, report, range)) ?? null;
  }

  /** Opens a range and suspends all others. Loading that the person stopped stays stopped. */
  open(report: Report, range: DayRange): void {
    const name = nameOf(report, range);
    if (name === this.#opened) return;
    this.dropOutdated();
    const current = this.#kept.peek().find((kept) => isOf(kept, report, range)) ?? null;
    this.leave(current);
    this.#opened = name;
    if (current !== null) {
      continueLoading(current);
      return;
    }
    const opened = this.#make(report, range, "kept rows");
    this.#keep(opened);
    opened.load("small site");
  }

  /** Loads a report without suspending the open one. Resolves when loading ends. */
  async openBeside(report: Report, range: DayRange, goal: Goal = "small site"): Promise<Listing> {
    const found = this.#kept.peek().find((one) => isOf(one, report, range)) ?? null;
    const kept = found !== null && isOutdated(found) ? null : found;
    const opened = kept ?? this.#make(report, range, "kept rows");
    if (kept === null) this.#keep(opened);
    await opened.load(goal);
    return opened;
  }

  /** Removes a listing, so that the next one of its range starts afresh. */
  forget(listing: Listing): void {
    this.#kept.value = this.#kept.peek().filter((kept) => kept !== listing);
    this.#earlier.value = this.#earlier.peek().filter((kept) => kept !== listing);
  }

  /** Removes the listings that lack the end of their last day, which has ended since. */
  dropOutdated(): void {
    const outdated = this.#kept.peek().filter(isOutdated);
    for (const listing of outdated) {
      listing.suspend();
      this.forget(listing);
    }
  }

  /** Suspends all loading, except for the listing shown next. Cancels a refresh. */
  leave(next: Listing | null = null): void {
    this.#opened = null;
    this.#openedEarlier = null;
    for (const kept of [...this.#kept.peek(), ...this.#earlier.peek()]) {
      if (kept !== next) kept.suspend();
    }
    this.stopRenewal();
  }

  /** Returns the listing of the comparison; null if it is not cached. */
  findEarlier(now: Listing, range: DayRange): Listing | null {
    const bounds = findEarlierBounds(range, now.range, now.bounds.value);
    return this.#earlier.value.find((kept) => hasBounds(kept, now.report, bounds)) ?? null;
  }

  /**
   * Opens the listing of the comparison. Resolves when loading ends. Creates no listing while the
   * rate limit is used up, and then resolves to `null`.
   */
  async openEarlier(
    now: Listing,
    range: DayRange,
    goal: Goal = "small site",
  ): Promise<Listing | null> {
    const bounds = findEarlierBounds(range, now.range, now.bounds.peek());
    const kept = this.#earlier.peek().find((one) => hasBounds(one, now.report, bounds)) ?? null;
    if (kept !== this.#openedEarlier) this.closeEarlier();
    if (kept !== null && (isAnswered(kept) || kept === this.#openedEarlier)) {
      this.#openedEarlier = kept;
      if (goal === "small site") continueLoading(kept);
      return kept;
    }
    if (kept === null && usedUpUntil(this.limit.peek(), currentTime()) !== null) return null;
    const isSecondary = true;
    const opened = kept ?? this.#build(now.report, range, bounds, "kept rows", isSecondary);
    this.#openedEarlier = opened;
    if (kept === null) {
      this.#earlier.value = [opened, ...this.#earlier.peek()].slice(0, LISTINGS_KEPT);
    }
    await opened.load(goal);
    return opened;
  }

  /** Suspends the comparison of the open listing. */
  closeEarlier(): void {
    this.#openedEarlier?.suspend();
    this.#openedEarlier = null;
  }

  /**
   * Returns how many rows a report has in another period, or how many pages the sitemap has; null
   * if neither is known.
   */
  knownRows(report: Report): number | null {
    const complete = [...this.#kept.value, ...this.#earlier.value].filter(
      (kept) => kept.report === report && kept.state.value === "complete",
    );
    const pages = report.key === "path" ? this.sitemapPages.value : 0;
    return Math.max(pages, ...complete.map((kept) => kept.rows.value.length)) || null;
  }

  /**
   * Loads a listing again with current counts. The shown listing stays until as many rows are
   * loaded. Returns whether the new listing replaced it. If the shown one was still loading, the
   * new one then loads as far; after a failure or a cancellation, the shown one resumes.
   */
  async refresh(shown: Listing): Promise<boolean> {
    shown.suspend();
    const pending = this.renewal.peek();
    const renewal =
      pending?.report === shown.report && isSameRange(pending.range, shown.range)
        ? pending
        : this.#make(shown.report, shown.range, sourceOf(shown));
    if (pending !== renewal) pending?.stop();
    this.renewal.value = renewal;
    const isDone = await renewal.load(renewalGoal(shown));
    if (!isDone || this.renewal.peek() !== renewal) {
      const isRenewed = this.renewal.peek()?.state.peek() === "loading";
      if (!isRenewed && this.#opened === nameOf(shown.report, shown.range)) shown.resume();
      return false;
    }
    this.#keep(renewal);
    this.renewal.value = null;
    if (shown.isSuspended && shown.goal !== "first rows") renewal.load(shown.goal);
    return true;
  }

  /** Cancels a refresh. The shown listing stays. */
  stopRenewal(): void {
    this.renewal.peek()?.stop();
    this.renewal.value = null;
  }

  #make(report: Report, range: DayRange, source: Source): Listing {
    const bounds = boundsOf(range, currentTime(), this.#answered.freshness);
    return this.#build(report, range, bounds, source);
  }

  #build(
    report: Report,
    range: DayRange,
    bounds: Bounds,
    source: Source,
    isSecondary = false,
  ): Listing {
    const { [nameOf(report, range)]: answered = null } = this.#answered.bounds;
    const isOther = answered !== null && answered.dateTo !== bounds.dateTo;
    const listing: Listing = new Listing({
      client: this.client,
      report,
      range,
      bounds,
      fallback: isOther && !isSecondary ? answered : null,
      source,
      limit: this.limit,
      ended: this.#ended,
      isSecondary,
      isArchived: this.isArchived,
      onAnswer: (headers) => this.#noteAnswer(report, range, listing.bounds.peek(), headers),
    });
    return listing;
  }

  #keep(listing: Listing): void {
    const { report, range } = listing;
    const others = this.#kept.peek().filter((kept) => !isOf(kept, report, range));
    this.#kept.value = [listing, ...others].slice(0, LISTINGS_KEPT);
  }

  /**
   * Stores the cache lifetime and the bounds of an answered running range. These bounds cannot be
   * derived from the calendar later.
   */
  #noteAnswer(report: Report, range: DayRange, bounds: Bounds, headers: Headers): void {
    if (bounds.frozenAt === null || headers.get("cache-status") === null) return;
    const { bounds: before, freshness } = this.#answered;
    const name = nameOf(report, range);
    const others = Object.entries(before).filter(([other]) => other !== name);
    this.#answered.bounds = Object.fromEntries(
      [[name, bounds] as const, ...others].slice(0, RANGES_REMEMBERED),
    );
    this.#answered.freshness = freshnessOf(headers) ?? freshness;
    this.#memory.write(this.#answered);
  }
}

/** Resumes loading. A listing that only loaded its first rows loads as far as others. */
function continueLoading(kept: Listing): void {
  if (kept.goal === "first rows" && kept.state.peek() === "partial") kept.load("small site");
  else kept.resume();
}

/** Returns a goal of at least as many rows as are shown. */
function renewalGoal({ state, rows }: Listing): Goal {
  if (state.peek() === "complete") return "all rows";
  return { rows: Math.max(1, rows.peek().length) };
}

/** Returns where a refresh reads. The archive has the latest counts of its days. */
function sourceOf({ isFromArchive }: Listing): Source {
  return isFromArchive.peek() ? "kept rows" : "Mintlify";
}

/** Returns whether the listing has an answer: rows or an error. */
function isAnswered({ requests, problem }: Listing): boolean {
  return requests.peek() > 0 || problem.peek() !== null;
}

function isOf(listing: Listing, report: Report, range: DayRange): boolean {
  return listing.report === report && isSameRange(listing.range, range);
}

/** Returns whether a listing was cut off during its last day, which has ended since. */
function isOutdated({ range, bounds }: Listing): boolean {
  const isCutOff = bounds.peek().frozenAt !== null;
  return isCutOff && boundsOf(range, currentTime()).frozenAt === null;
}

function hasBounds(listing: Listing, report: Report, { dateFrom, dateTo }: Bounds): boolean {
  const { value } = listing.bounds;
  return listing.report === report && value.dateFrom === dateFrom && value.dateTo === dateTo;
}

function nameOf({ name }: Report, { from, to }: DayRange): string {
  return `${name} ${from} ${to}`;
}

function readAnswered(kept: unknown): Answered {
  const { freshness, bounds } = (kept ?? {}) as Partial<Answered>;
  const isKnown = typeof freshness === "number" && freshness > 0;
  return {
    freshness: isKnown ? freshness : DEFAULT_FRESHNESS_MS,
    bounds: typeof bounds === "object" && bounds !== null ? bounds : {},
  };
}
