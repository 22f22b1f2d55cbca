import { batch, type Signal, signal } from "@preact/signals";
import type { Client } from "quillgate";
import { currentTime } from "../../shell/clock_skew.ts";
import { nextTask } from "../../shell/next_task.ts";
import { describeProblem, type Problem } from "../../shell/problem.ts";
import { isReserveReached, type Limit, noteLimit } from "../../shell/rate_limit.ts";
import type { Bounds, DayRange } from "../period/range.ts";
import { isFromCache, older, type Staleness, stalenessOf } from "../period/staleness.ts";
import { areWholeDays, readArchivedViews } from "./archived_views.ts";
import type { Report, ReportRow, Totals } from "./report.ts";
import { type PageOfReport, type ReportPosition, readReport } from "./report_pages.ts";

/** Whether the gateway may answer from its cache or must ask Mintlify. */
export type Source = "kept rows" | "Mintlify";

export type LoadState = "empty" | "loading" | "partial" | "complete";

/**
 * How far to load.
 *
 * - `archived rows`: all rows of the gateway's archive, without a request to Mintlify.
 * - `first rows`: one request.
 * - `small site`: up to {@link SMALL_SITE_ROWS}, while half of the hourly budget is left.
 * - `rows above reserve`: all rows, while more than the reserve is left.
 * - `all rows`: all rows, whatever is left.
 * - `{ rows }`: a number of rows.
 */
export type Goal =
  | "archived rows"
  | "first rows"
  | "small site"
  | "rows above reserve"
  | "all rows"
  | { rows: number };

/** Sites up to this size load automatically. */
export const SMALL_SITE_ROWS = 1000;

/** How long loaded rows wait for more rows, to avoid rendering after every page. */
const SHOWN_AFTER_MS = 400;

export interface ListingOptions {
  client: Client;
  report: Report;
  range: DayRange;
  bounds: Bounds;
  /**
   * Bounds with a recent answer. They replace `bounds` if Mintlify does not answer or no request is
   * left.
   */
  fallback?: Bounds | null;
  source?: Source;
  /** The rate limit from the latest response, shared by all listings. */
  limit: Signal<Limit | null>;
  ended: AbortSignal;
  /** Whether the gateway archives the project's views. */
  isArchived?: boolean;
  /** Whether even the first rows may wait, because another listing is in the foreground. */
  isSecondary?: boolean;
  onAnswer?(headers: Headers): void;
}

/**
 * The rows of a report in one range. Rows load page by page. After an interruption, the next call
 * of `load` continues after the last loaded page.
 */
export class Listing {
  readonly key = crypto.randomUUID();
  readonly report: Report;
  readonly range: DayRange;
  readonly bounds: Signal<Bounds>;
  readonly rows = signal<readonly ReportRow[]>([]);
  readonly totals = signal<Totals | null>(null);
  readonly state = signal<LoadState>("empty");
  /** Whether more rows exist that Mintlify does not list. */
  readonly isCut = signal(false);
  readonly requests = signal(0);
  readonly problem = signal<Problem | null>(null);
  /** Set when the gateway served rows older than requested, because it had nothing newer. */
  readonly staleness = signal<Staleness | null>(null);
  /** Whether the rows are from the gateway's archive. They are then complete. */
  readonly isFromArchive = signal(false);
  readonly limit: Signal<Limit | null>;
  /** The goal of the current or last call of `load`. */
  goal: Goal = "first rows";
  /** Whether loading was suspended rather than stopped by the person. */
  isSuspended = false;
  readonly #client: Client;
  readonly #headers: Record<string, string>;
  readonly #ended: AbortSignal;
  readonly #fallback: Bounds | null;
  readonly #isSecondary: boolean;
  readonly #isArchived: boolean;
  #next: ReportPosition;
  /** Pages that are loaded but not shown yet. */
  #unshown: PageOfReport[] = [];
  #showTimer: ReturnType<typeof setTimeout> | undefined;
  #controller: AbortController | null = null;
  #lastHeaders: Headers | null = null;

  constructor(options: ListingOptions) {
    const { client, report, range, bounds, fallback = null, source, limit, ended } = options;
    this.#client = client.withOptions({
      onResponse: ({ headers }) => {
        this.#note(headers);
        options.onAnswer?.(headers);
      },
    });
    this.#headers = source === "Mintlify" ? { "cache-control": "no-cache" } : {};
    this.#ended = ended;
    this.#fallback = fallback;
    this.#isSecondary = options.isSecondary ?? false;
    const isReadable = report.name === "views" && source !== "Mintlify" && areWholeDays(bounds);
    this.#isArchived = isReadable && (options.isArchived ?? false);
    this.report = report;
    this.range = range;
    this.limit = limit;
    this.bounds = signal(bounds);
    this.#next = firstPosition(bounds);
  }

  /**
   * Loads missing rows. Returns whether it reached the goal or fell back to older bounds. Returns
   * false if another call is still loading.
   */
  async load(goal: Goal): Promise<boolean> {
    if (this.state.peek() === "complete") return true;
    if (this.#controller !== null) return false;
    const controller = new AbortController();
    this.#controller = controller;
    this.isSuspended = false;
    this.goal = goal;
    const signal = AbortSignal.any([controller.signal, this.#ended]);
    this.state.value = "loading";
    this.problem.value = null;
    try {
      if (await this.#loadFromArchive(signal)) return true;
      if (goal === "archived rows") return false;
      await this.#fetch(goal, signal);
      return true;
    } catch (error) {
      this.#show();
      if (signal.aborted) return false;
      const problem = describeProblem(error, currentTime());
      if (await this.#fallBack(problem, signal)) return true;
      if (!signal.aborted) this.problem.value = problem;
      return false;
    } finally {
      if (this.#controller === controller) this.#rest();
    }
  }

  /** Stops loading. Keeps the loaded rows. */
  stop(): void {
    this.isSuspended = false;
    this.#controller?.abort();
    this.#rest();
  }

  /** Pauses loading until `resume` is called, because another listing is in the foreground. */
  suspend(): void {
    if (this.#controller === null) return;
    this.stop();
    this.isSuspended = true;
  }

  /** Resumes loading after `suspend`, but not after `stop`. */
  resume(): void {
    if (this.isSuspended) this.load(this.goal);
  }

  /** Loads all rows from the archive. Returns false if that is not possible. */
  async #loadFromArchive(signal: AbortSignal): Promise<boolean> {
    if (!this.#isArchived || this.requests.peek() > 0) return false;
    const archived = await readArchivedViews(this.#client, this.bounds.peek(), signal);
    if (archived === null) return false;
    this.isFromArchive.value = true;
    this.#take({ ...archived, next: null, isCut: false });
    return true;
  }

  async #fetch(goal: Goal, signal: AbortSignal): Promise<void> {
    const options = { signal, headers: this.#headers };
    for await (const page of readReport(this.#client, this.report.name, this.#next, options)) {
      await nextTask();
      signal.throwIfAborted();
      this.#take(page);
      if (this.#isReached(goal)) return;
    }
  }

  #isReached(goal: Goal): boolean {
    const length = this.#unshown.reduce((n, { rows }) => n + rows.length, this.rows.peek().length);
    if (typeof goal === "object") return length >= goal.rows;
    if (goal === "small site") return length >= SMALL_SITE_ROWS || !this.#isBudgetHalfLeft();
    if (goal === "rows above reserve") return this.#isReserveReached();
    return goal === "first rows";
  }

  /** Responses from the cache cost nothing, so loading continues past the reserve for them. */
  #isReserveReached(): boolean {
    if (!isReserveReached(this.limit.peek())) return false;
    return this.#lastHeaders === null || !isFromCache(this.#lastHeaders);
  }

  /** Responses from the gateway's cache carry no rate limit and cost nothing. */
  #isBudgetHalfLeft(): boolean {
    const limit = this.limit.peek();
    if (limit !== null) return limit.left * 2 >= limit.quota;
    return this.#lastHeaders !== null && isFromCache(this.#lastHeaders);
  }

  /** Falls back to bounds with a recent answer, which is better than showing nothing. */
  async #fallBack(problem: Problem, signal: AbortSignal): Promise<boolean> {
    const bounds = this.#fallback;
    if (bounds === null || this.requests.peek() > 0 || problem.remedy !== "retry") return false;
    const options = { signal, headers: {}, maxRetries: 0 };
    const pages = readReport(this.#client, this.report.name, firstPosition(bounds), options);
    try {
      const { value: page } = await pages.next();
      if (!page || signal.aborted) return false;
      this.bounds.value = bounds;
      this.#take(page);
      const asOf = fetchedAt(this.#lastHeaders) ?? bounds.frozenAt ?? currentTime();
      const why = problem.isLimit ? "limit used up" : "no answer";
      this.staleness.value = older(this.staleness.peek(), { asOf, why });
      return true;
    } catch {
      return false;
    } finally {
      pages.return();
    }
  }

  #note(headers: Headers): void {
    this.#lastHeaders = headers;
    noteLimit(this.limit, headers);
    this.staleness.value = older(this.staleness.peek(), stalenessOf(headers, currentTime()));
  }

  #take(page: PageOfReport): void {
    this.#unshown.push(page);
    if (page.next !== null) this.#next = page.next;
    const isFirst = this.requests.peek() === 0 && !this.#isSecondary;
    if (isFirst || page.next === null) this.#show();
    else this.#showTimer ??= setTimeout(() => this.#show(), SHOWN_AFTER_MS);
  }

  #show(): void {
    clearTimeout(this.#showTimer);
    this.#showTimer = undefined;
    const pages = this.#unshown;
    const last = pages.at(-1);
    if (last === undefined) return;
    this.#unshown = [];
    batch(() => {
      this.rows.value = this.rows.peek().concat(pages.flatMap(({ rows }) => rows));
      this.totals.value = last.totals ?? this.totals.peek();
      this.isCut.value = last.isCut;
      this.requests.value += pages.length;
      if (last.next === null) this.state.value = "complete";
    });
  }

  #rest(): void {
    this.#show();
    this.#controller = null;
    if (this.state.peek() !== "loading") return;
    this.state.value = this.requests.peek() === 0 ? "empty" : "partial";
  }
}

function firstPosition({ dateFrom, dateTo }: Bounds): ReportPosition {
  return { dateFrom, dateTo };
}

/** Returns the time of Mintlify's answer, based on the `Age` header; null without a valid `Age`. */
function fetchedAt(headers: Headers | null): number | null {
  const age = headers?.get("age");
  return age == null || !/^\d+$/.test(age) ? null : currentTime() - Number(age) * 1000;
}
