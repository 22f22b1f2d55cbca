import { type Day, isDay } from "./address_words.ts";
import type { DayRange } from "./range.ts";

/** Returns why two dates are not a valid range, for display; null if they are valid. */
export function rangeProblem({ from, to }: DayRange, today: Day): string | null {
  if (!isDay(from)) return "Choose a start date in 1970 or later.";
  if (!isDay(to)) return "Choose an end date in 1970 or later.";
  if (to < from) return "End date must be on or after the start date.";
  if (from > today) return "Start date is in the future.";
  if (to > today) return "End date is in the future.";
  return null;
}
