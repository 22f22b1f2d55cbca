import { DAY_MS, HOUR_MS, MINUTE_MS } from "./durations.ts";
import { counted, utcDay } from "./wording.ts";

const MAX_RELATIVE_MS = 7 * DAY_MS;

/** Returns "just now", "5 min ago", "3 h ago" or "2 days ago". After seven days, returns a date. */
export function relativeTime(time: number, now: number): string {
  const age = now - time;
  if (age < MINUTE_MS) return "just now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`;
  if (age < MAX_RELATIVE_MS) return `${counted(Math.floor(age / DAY_MS), "day")} ago`;
  return utcDay(time - new Date(time).getTimezoneOffset() * MINUTE_MS);
}
