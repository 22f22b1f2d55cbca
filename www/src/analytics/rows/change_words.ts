import { count, percent } from "../../shell/wording.ts";
import type { Change } from "./sums.ts";

/**
 * Returns a shape for the direction, because colour alone is not accessible. Returns an empty
 * string if the difference is 0.
 */
export function signOf({ difference }: Change): string {
  if (difference === 0) return "";
  return difference > 0 ? "▲" : "▼";
}

/** Formats a change as "12%", "New" or "No change". */
export function changeText({ difference, part }: Change): string {
  if (difference === 0) return "No change";
  if (part === null) return "New";
  return percent(Math.abs(part));
}

/** Formats a change as "Up 12% from 1,000", "Up from 0" or "No change". */
export function changeInWords({ difference, part }: Change): string {
  if (difference === 0) return "No change";
  if (part === null) return `Up from 0`;
  const direction = difference > 0 ? "Up" : "Down";
  return `${direction} ${percent(Math.abs(part))} from ${count(Math.round(difference / part))}`;
}
