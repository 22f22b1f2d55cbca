import { type Day, isDay } from "./address_words.ts";
import type { DayRange } from "./range.ts";

/** Why these two inputs are no range, in words for the person who typed them; null when fine. */
export function rangeProblem({ from, to }: DayRange, today: Day): string | null {
  if (!isDay(from)) return "Choose a start date.";
  if (!isDay(to)) return "Choose an end date.";
  if (to < from) return "End date must be after the start date.";
  if (from > today) return "Start date is in the future.";
  if (to > today) return "End date is in the future.";
  return null;
}
