import type { ReportRow } from "./report.ts";
import { countOf } from "./rows.ts";

/** A click rate is low if it is above 0 and below this percentage of the searches. */
export const LOW_CLICK_RATE = 20;

/** Returns whether no reader clicked a result. An unknown click rate is not 0. */
export function hasNoClicks({ ctr }: ReportRow): boolean {
  return ctr === 0;
}

export function hasLowClickRate({ ctr }: ReportRow): boolean {
  const rate = countOf(ctr);
  return rate !== null && rate > 0 && rate < LOW_CLICK_RATE;
}

export interface Clicks {
  /** The number of searches with a known click rate. */
  searches: number;
  /** The estimated number of these searches without a click. */
  clickless: number;
}

/** Sums the searches of some terms. Mintlify returns a percentage per term, not the number of clicks. */
export function sumClicks(rows: readonly ReportRow[]): Clicks {
  let [searches, clickless] = [0, 0];
  for (const { hits, ctr } of rows) {
    const [count, rate] = [countOf(hits), countOf(ctr)];
    if (count === null || rate === null) continue;
    searches += count;
    clickless += count * (1 - Math.min(100, rate) / 100);
  }
  return { searches, clickless };
}
