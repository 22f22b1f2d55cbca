import { type Day, dayOf } from "../analytics/period/address_words.ts";
import { addDays, countDays, type DayRange } from "../analytics/period/range.ts";

/** Periods longer than this change for other reasons than one pull request. */
const MAX_WEEKS = 4;

/** The days to compare, or when they will be there. */
export type EffectDays =
  | { before: DayRange; after: DayRange }
  /** Fewer than seven whole days have passed. */
  | { readyOn: Day };

/**
 * Returns equal periods before and after a merge: as many whole weeks as have passed, at most four,
 * so that both have the same weekdays. Leaves out the day of the merge.
 *
 * @param mergedAt in milliseconds since the epoch
 * @param today the running day in UTC
 */
export function effectDays(mergedAt: number, today: Day): EffectDays {
  const merge = dayOf(mergedAt);
  const first = addDays(merge, 1);
  const days = today > first ? countDays({ from: first, to: addDays(today, -1) }) : 0;
  const weeks = Math.min(MAX_WEEKS, Math.floor(days / 7));
  if (weeks === 0) return { readyOn: addDays(merge, 8) };
  return {
    before: { from: addDays(merge, -7 * weeks), to: addDays(merge, -1) },
    after: { from: first, to: addDays(merge, 7 * weeks) },
  };
}
