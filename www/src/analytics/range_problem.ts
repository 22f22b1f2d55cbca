import { type Day, isDay } from "./address_words.ts";
import type { DayRange } from "./range.ts";

/** Why these two inputs are no range, in words for the person who typed them; null when fine. */
export function rangeProblem({ from, to }: DayRange, today: Day): string | null {
  if (!isDay(from)) return "Choose the first day.";
  if (!isDay(to)) return "Choose the last day.";
  if (to < from) return "The last day is before the first day.";
  if (from > today) return "The first day is in the future.";
  if (to > today) return "The last day is in the future. Choose today at the latest.";
  return null;
}
