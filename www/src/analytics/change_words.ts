import { count, percent } from "../shell/wording.ts";
import type { Change } from "./sums.ts";

/** A shape for the direction, so that it is not told by colour alone. */
export function signOf({ difference }: Change): string {
  if (difference === 0) return "=";
  return difference > 0 ? "▲" : "▼";
}

/** "12%", "new", "no change". */
export function changeText({ difference, part }: Change): string {
  if (difference === 0) return "no change";
  if (part === null) return "new";
  return percent(Math.abs(part));
}

/** "Up 12% from 1,000". */
export function changeInWords({ difference, part }: Change): string {
  if (difference === 0) return "No change";
  if (part === null) return `Up from 0`;
  const direction = difference > 0 ? "Up" : "Down";
  return `${direction} ${percent(Math.abs(part))} from ${count(Math.round(difference / part))}`;
}
