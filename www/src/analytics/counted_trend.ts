import { batch, computed, type Signal, signal } from "@preact/signals";
import type { Client, ListOptions } from "quillgate";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { type Limit, reserveOf, tightestLimit } from "../shell/rate_limit.ts";
import type { Day } from "./address_words.ts";
import { addDays, type DayRange } from "./range.ts";
import type { Totals } from "./report.ts";
import { isFromCache } from "./staleness.ts";
import { type TrendGroup, type TrendPoint, trendPoints } from "./trend.ts";

/** The reports whose charts need one request per bar. */
export type CountedReport = "visitors" | "searches";

/**
 * How far to load.
 *
 * - `above reserve`: while more than the reserve is left.
 * - `all`: whatever is left.
 */
export type CountGoal = "above reserve" | "all";

export interface CountedTrendOptions {
  client: Client;
  name: CountedReport;
  /** Days that have ended. */
  range: DayRange;
  group: TrendGroup;
  /** The rate limit from the latest response, shared with the listings. */
  limit: Signal<Limit | null>;
  ended: AbortSignal;
}

/**
 * The counts of a report by day, week or month. Mintlify only returns the total of a range, so each
 * bar takes a request. No bar is requested twice.
 */
export class CountedTrend {
  readonly name: CountedReport;
  readonly range: DayRange;
  readonly group: TrendGroup;
  readonly points: Signal<readonly TrendPoint[]>;
  readonly isLoading = signal(false);
  readonly problem = signal<Problem | null>(null);
  /** The number of bars that are not loaded. */
  readonly missing = computed(() => this.points.value.length - this.#loaded.value.size);
  readonly #client: Client;
  readonly #limit: Signal<Limit | null>;
  readonly #ended: AbortSignal;
  /** The first days of the loaded bars. Mintlify can return a bar without counts. */
  readonly #loaded = signal<ReadonlySet<Day>>(new Set());
  #controller: AbortController | null = null;
  #lastHeaders: Headers | null = null;

  constructor({ client, name, range, group, limit, ended }: CountedTrendOptions) {
    this.#client = client.withOptions({ onResponse: ({ headers }) => this.#note(headers) });
    this.#limit = limit;
    this.#ended = ended;
    this.name = name;
    this.range = range;
    this.group = group;
    this.points = signal(trendPoints(range, group, []));
  }

  /** Loads missing bars, latest first. */
  async load(goal: CountGoal): Promise<void> {
    if (this.#controller !== null) return;
    const controller = new AbortController();
    this.#controller = controller;
    const signal = AbortSignal.any([controller.signal, this.#ended]);
    batch(() => {
      this.isLoading.value = true;
      this.problem.value = null;
    });
    try {
      await this.#fetch(goal, signal);
    } catch (error) {
      if (!signal.aborted) this.problem.value = describeProblem(error, Date.now());
    } finally {
      if (this.#controller === controller) this.stop();
    }
  }

  /** Stops loading. Keeps the loaded bars. */
  stop(): void {
    this.#controller?.abort();
    this.#controller = null;
    this.isLoading.value = false;
  }

  async #fetch(goal: CountGoal, signal: AbortSignal): Promise<void> {
    for (let point = this.#next(); point !== undefined; point = this.#next()) {
      const { human, ai } = await readCounts(this.#client, this.name, point, { signal });
      signal.throwIfAborted();
      const held = human === null && ai === null ? 0 : point.days;
      this.#show({ ...point, human: human ?? 0, ai: ai ?? 0, held });
      if (goal === "above reserve" && this.#isReserveReached()) return;
    }
  }

  #next(): TrendPoint | undefined {
    return this.points.peek().findLast(({ from }) => !this.#loaded.peek().has(from));
  }

  #show(loaded: TrendPoint): void {
    const points = this.points.peek();
    batch(() => {
      this.points.value = points.map((point) => (point.from === loaded.from ? loaded : point));
      this.#loaded.value = new Set([...this.#loaded.peek(), loaded.from]);
    });
  }

  /** Responses from the cache cost nothing, so loading continues past the reserve for them. */
  #isReserveReached(): boolean {
    const limit = this.#limit.peek();
    if (limit === null || limit.left > reserveOf(limit)) return false;
    return this.#lastHeaders === null || !isFromCache(this.#lastHeaders);
  }

  #note(headers: Headers): void {
    this.#lastHeaders = headers;
    this.#limit.value = tightestLimit(headers, Date.now()) ?? this.#limit.peek();
  }
}

/** Requests the totals of a range with the shortest possible list. */
async function readCounts(
  { analytics }: Client,
  name: CountedReport,
  { from, to }: DayRange,
  options: ListOptions,
): Promise<Pick<Totals, "human" | "ai">> {
  const params = { dateFrom: from, dateTo: addDays(to, 1), limit: 1 };
  if (name === "searches") {
    const { totalSearches } = await analytics.searches(params, options);
    return { human: totalSearches, ai: null };
  }
  return (await analytics.visitors(params, options)).totals;
}
