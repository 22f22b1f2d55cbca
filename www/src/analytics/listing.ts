import { batch, type Signal, signal } from "@preact/signals";
import type { Client } from "quillgate";
import { nextTask } from "../shell/next_task.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { type Limit, reserveOf, tightestLimit } from "../shell/rate_limit.ts";
import type { Bounds, DayRange } from "./range.ts";
import type { Report, ReportRow, Totals } from "./report.ts";
import { type PageOfReport, type ReportPosition, readReport } from "./report_pages.ts";
import { isFromCache, older, type Staleness, stalenessOf } from "./staleness.ts";

/** Whether rows that the gateway has kept will do, or the platform is to be asked. */
export type Source = "kept rows" | "the platform";

export type LoadState = "empty" | "loading" | "partial" | "complete";

/**
 * How far to load: one request, a small site while half of the hour's budget is left, a number of
 * rows, all rows while more than the reserve is left, or all rows.
 */
export type Goal =
  | "first rows"
  | "small site"
  | "rows above reserve"
  | "all rows"
  | { rows: number };

/** A site with no more rows is loaded without being asked to. */
export const SMALL_SITE_ROWS = 1000;

/** Rows wait so long for those after them, so that not every page is drawn by itself. */
const SHOWN_AFTER_MS = 400;

export interface ListingOptions {
  client: Client;
  report: Report;
  range: DayRange;
  bounds: Bounds;
  /** Bounds that were answered lately, for when the platform does not answer these. */
  fallback?: Bounds | null;
  source?: Source;
  /** What is left of the limit on requests, as the gateway last said to any listing. */
  limit: Signal<Limit | null>;
  ended: AbortSignal;
  /** Whether the first rows may wait like all others, since something else is looked at first. */
  isSecondary?: boolean;
  onAnswer?(headers: Headers): void;
}

/**
 * The rows of a report in one range, fetched piece by piece and never asked for twice: whatever
 * stops the listing, the next call goes on from the row where it stopped.
 */
export class Listing {
  readonly key = crypto.randomUUID();
  readonly report: Report;
  readonly range: DayRange;
  readonly bounds: Signal<Bounds>;
  readonly rows = signal<readonly ReportRow[]>([]);
  readonly totals = signal<Totals | null>(null);
  readonly state = signal<LoadState>("empty");
  readonly requests = signal(0);
  readonly problem = signal<Problem | null>(null);
  /** Set when rows are older than they should be, because nothing newer was to be had. */
  readonly staleness = signal<Staleness | null>(null);
  readonly limit: Signal<Limit | null>;
  /** How far the present or last loading was to go. */
  goal: Goal = "first rows";
  readonly #client: Client;
  readonly #headers: Record<string, string>;
  readonly #ended: AbortSignal;
  readonly #fallback: Bounds | null;
  readonly #isSecondary: boolean;
  #next: ReportPosition;
  /** What has come and is not shown yet. */
  #unshown: PageOfReport[] = [];
  #showTimer: ReturnType<typeof setTimeout> | undefined;
  #controller: AbortController | null = null;
  /** Whether it was stopped only because something else is looked at. */
  #isSuspended = false;
  #lastHeaders: Headers | null = null;

  constructor(options: ListingOptions) {
    const { client, report, range, bounds, fallback = null, source, limit, ended } = options;
    this.#client = client.withOptions({
      onResponse: ({ headers }) => {
        this.#note(headers);
        options.onAnswer?.(headers);
      },
    });
    this.#headers = source === "the platform" ? { "cache-control": "no-cache" } : {};
    this.#ended = ended;
    this.#fallback = fallback;
    this.#isSecondary = options.isSecondary ?? false;
    this.report = report;
    this.range = range;
    this.limit = limit;
    this.bounds = signal(bounds);
    this.#next = firstPosition(bounds);
  }

  /** Fetches what is missing. Says whether it got as far as asked. */
  async load(goal: Goal): Promise<boolean> {
    if (this.state.peek() === "complete") return true;
    if (this.#controller !== null) return false;
    const controller = new AbortController();
    this.#controller = controller;
    this.#isSuspended = false;
    this.goal = goal;
    const signal = AbortSignal.any([controller.signal, this.#ended]);
    this.state.value = "loading";
    this.problem.value = null;
    try {
      await this.#fetch(goal, signal);
      return true;
    } catch (error) {
      this.#show();
      if (signal.aborted) return false;
      const problem = describeProblem(error, Date.now());
      if (await this.#fallBack(problem, signal)) return true;
      if (!signal.aborted) this.problem.value = problem;
      return false;
    } finally {
      if (this.#controller === controller) this.#rest();
    }
  }

  /** Stops fetching and keeps the rows that are here. */
  stop(): void {
    this.#isSuspended = false;
    this.#controller?.abort();
    this.#rest();
  }

  /** Stops fetching until `resume`, since something else is looked at. */
  suspend(): void {
    if (this.#controller === null) return;
    this.stop();
    this.#isSuspended = true;
  }

  /** Goes on with what was suspended; what the person has stopped stays so. */
  resume(): void {
    if (this.#isSuspended) this.load(this.goal);
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

  /** Cached responses cost nothing, so loading continues while the gateway answers from its cache. */
  #isReserveReached(): boolean {
    const limit = this.limit.peek();
    if (limit === null || limit.left > reserveOf(limit)) return false;
    return this.#lastHeaders === null || !isFromCache(this.#lastHeaders);
  }

  /** What the gateway had kept says nothing of the budget, and costs nothing of it. */
  #isBudgetHalfLeft(): boolean {
    const limit = this.limit.peek();
    if (limit !== null) return limit.left * 2 >= limit.quota;
    return this.#lastHeaders !== null && isFromCache(this.#lastHeaders);
  }

  /** Shows what was answered lately rather than nothing. */
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
      const asOf = fetchedAt(this.#lastHeaders) ?? bounds.frozenAt ?? Date.now();
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
    const now = Date.now();
    this.#lastHeaders = headers;
    this.limit.value = tightestLimit(headers, now) ?? this.limit.peek();
    this.staleness.value = older(this.staleness.peek(), stalenessOf(headers, now));
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
      this.totals.value = last.totals;
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

/** When the platform gave an answer, by its `Age`. */
function fetchedAt(headers: Headers | null): number | null {
  const age = headers?.get("age");
  return age == null || !/^\d+$/.test(age) ? null : Date.now() - Number(age) * 1000;
}
