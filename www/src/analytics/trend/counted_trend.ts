import { batch, computed, type Signal, signal } from "@preact/signals";
import type { Client, ListOptions } from "quillgate";
import { currentTime } from "../../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../../shell/problem.ts";
import { isReserveReached, type Limit, noteLimit } from "../../shell/rate_limit.ts";
import type { Day } from "../period/address_words.ts";
import { addDays, type DayRange } from "../period/range.ts";
import { isFromCache } from "../period/staleness.ts";
import type { Totals } from "../rows/report.ts";
import { type TrendGroup, type TrendPoint, trendPoints } from "./trend.ts";

/** The reports with charts that need one request per bar. */
export type CountedReport = "visitors" | "searches";

/**
 * How far to load.
 *
 * - `above reserve`: at least one bar, and more bars until only the reserve is left. Responses from
 *   the gateway's cache do not count.
 * - `all`: every bar, even with requests of the reserve. If more requests become free, the reserve
 *   counts again.
 */
export type CountGoal = "above reserve" | "all";

interface CountedTrendSource {
  client: Client;
  /** The rate limit from the latest response, shared with the listings. */
  limit: Signal<Limit | null>;
  ended: AbortSignal;
}

/** A chart: its report, its ended days, and the interval of its bars. */
interface CountedTrendQuery {
  name: CountedReport;
  range: DayRange;
  group: TrendGroup;
}

export type CountedTrendOptions = CountedTrendSource & CountedTrendQuery;

/** The charts of a session. Returning to one costs no request. */
export class CountedTrendCache {
  readonly limit: Signal<Limit | null>;
  readonly #source: CountedTrendSource;
  readonly #trends = new Map<string, CountedTrend>();
  readonly #opened = signal<ReadonlySet<string>>(new Set());

  constructor(source: CountedTrendSource) {
    this.#source = source;
    this.limit = source.limit;
  }

  /** Returns a chart without bars until they are loaded. Keeps it only if its period is open. */
  find(query: CountedTrendQuery): CountedTrend {
    const { name, range, group } = query;
    const key = `${nameOf(name, range)} ${group}`;
    const found = this.#trends.get(key) ?? new CountedTrend({ ...this.#source, ...query });
    if (this.isOpen(name, range)) this.#trends.set(key, found);
    return found;
  }

  /** Returns whether the person asked for a chart of the report in this period. */
  isOpen(name: CountedReport, range: DayRange): boolean {
    return this.#opened.value.has(nameOf(name, range));
  }

  open(name: CountedReport, range: DayRange): void {
    this.#opened.value = new Set([...this.#opened.peek(), nameOf(name, range)]);
  }
}

function nameOf(name: CountedReport, { from, to }: DayRange): string {
  return `${name} ${from} ${to}`;
}

/**
 * The counts of a report by day, week or month. Mintlify only returns the total of a range, so each
 * bar takes a request. A loaded bar is not requested again.
 */
export class CountedTrend {
  readonly name: CountedReport;
  readonly group: TrendGroup;
  readonly points: Signal<readonly TrendPoint[]>;
  readonly isLoading = signal(false);
  readonly problem = signal<Problem | null>(null);
  /** The number of bars that are not loaded. */
  readonly missing = computed(() => this.points.value.length - this.#loaded.value.size);
  readonly #client: Client;
  readonly #limit: Signal<Limit | null>;
  readonly #ended: AbortSignal;
  /** The first days of the loaded bars. A loaded bar can have no counts. */
  readonly #loaded = signal<ReadonlySet<Day>>(new Set());
  #controller: AbortController | null = null;
  #lastHeaders: Headers | null = null;

  constructor({ client, name, range, group, limit, ended }: CountedTrendOptions) {
    this.#client = client.withOptions({ onResponse: ({ headers }) => this.#note(headers) });
    this.#limit = limit;
    this.#ended = ended;
    this.name = name;
    this.group = group;
    this.points = signal(trendPoints(range, group, []));
  }

  /**
   * Loads missing bars, latest first. Returns `false` if loading was stopped or already in
   * progress. Sets `problem` and returns `true` after an error.
   */
  async load(goal: CountGoal): Promise<boolean> {
    if (this.#controller !== null) return false;
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
      if (!signal.aborted) this.problem.value = describeProblem(error, currentTime());
    }
    if (this.#controller === controller) this.#rest();
    return !signal.aborted;
  }

  /** Stops loading. Keeps the loaded bars. */
  stop(): void {
    this.#controller?.abort();
    this.#rest();
  }

  #rest(): void {
    this.#controller = null;
    this.isLoading.value = false;
  }

  async #fetch(goal: CountGoal, signal: AbortSignal): Promise<void> {
    let usesReserve = goal === "all";
    for (let point = this.#next(); point !== undefined; point = this.#next()) {
      const { human, ai } = await readCounts(this.#client, this.name, point, { signal });
      const held = human === null && ai === null ? 0 : point.days;
      this.#show({ ...point, human: human ?? 0, ai: ai ?? 0, held });
      signal.throwIfAborted();
      if (!isReserveReached(this.#limit.peek())) usesReserve = false;
      else if (!usesReserve && !this.#isFromCache()) return;
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
  #isFromCache(): boolean {
    return this.#lastHeaders !== null && isFromCache(this.#lastHeaders);
  }

  #note(headers: Headers): void {
    this.#lastHeaders = headers;
    noteLimit(this.#limit, headers);
  }
}

/** Requests the totals of a range, with a single row. */
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
  const { totals } = await analytics.visitors(params, options);
  return totals ?? { human: null, ai: null };
}
