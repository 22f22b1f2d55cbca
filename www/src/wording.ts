import type { Limit } from "./rate_limit.ts";

const WHOLE = new Intl.NumberFormat();
const SHARE = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const DAY_AND_CLOCK = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});

export function count(value: number | null): string {
  return value === null ? "–" : WHOLE.format(value);
}

/** "1 page", "2 pages". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${WHOLE.format(value)} ${value === 1 ? one : many}`;
}

export function share(part: number | null, whole: number | null): string {
  if (part === null || whole === null || whole === 0) return "–";
  return SHARE.format(part / whole);
}

/** "45 s", "3 min 05 s", "2 h 10 min", "4 days". */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} days`;
}

export function clockTime(time: number): string {
  return CLOCK.format(time);
}

export function dayAndTime(time: number): string {
  return DAY_AND_CLOCK.format(time);
}

/** The clock alone for today, the day as well for any other. */
export function moment(time: number, now: number): string {
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return isToday ? clockTime(time) : dayAndTime(time);
}

/** "At most 100 jobs an hour; 41 were left at 12:45." */
export function limitNote({ quota, window, left, at }: Limit, one: string): string {
  const span = window === 3_600_000 ? "an hour" : `in ${duration(window)}`;
  return `At most ${counted(quota, one)} ${span}; ${WHOLE.format(left)} left at ${clockTime(at)}.`;
}
