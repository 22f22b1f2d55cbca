import { type Signal, signal } from "@preact/signals";
import type { Client } from "quillgate";
import type { Limit } from "../../shell/rate_limit.ts";
import { type DayRange, isSameRange } from "../period/range.ts";
import { type CountedReport, CountedTrend } from "./counted_trend.ts";
import type { TrendGroup } from "./trend.ts";

const TRENDS_KEPT = 12;

/** Caches recent charts of visitors and searches. Returning to one costs no request. */
export class CountedTrendCache {
  /** The rate limit from the latest response. */
  readonly limit: Signal<Limit | null>;
  readonly #client: Client;
  readonly #ended: AbortSignal;
  readonly #kept = signal<readonly CountedTrend[]>([]);

  constructor(client: Client, limit: Signal<Limit | null>, ended: AbortSignal) {
    this.#client = client;
    this.limit = limit;
    this.#ended = ended;
  }

  /** Returns a chart; null if it is not cached. */
  find(name: CountedReport, range: DayRange, group: TrendGroup): CountedTrend | null {
    const isWanted = (kept: CountedTrend) =>
      kept.name === name && kept.group === group && isSameRange(kept.range, range);
    return this.#kept.value.find(isWanted) ?? null;
  }

  /** Returns a cached chart, or creates one. Stops the loading of all other charts. */
  open(name: CountedReport, range: DayRange, group: TrendGroup): CountedTrend {
    const opened = this.find(name, range, group) ?? this.#make(name, range, group);
    const others = this.#kept.peek().filter((kept) => kept !== opened);
    this.leave(opened);
    this.#kept.value = [opened, ...others].slice(0, TRENDS_KEPT);
    return opened;
  }

  /** Stops the loading of all charts except `next`. */
  leave(next: CountedTrend | null = null): void {
    for (const kept of this.#kept.peek()) if (kept !== next) kept.stop();
  }

  #make(name: CountedReport, range: DayRange, group: TrendGroup): CountedTrend {
    return new CountedTrend({
      client: this.#client,
      name,
      range,
      group,
      limit: this.limit,
      ended: this.#ended,
    });
  }
}
