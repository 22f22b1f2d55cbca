/** Creates a format on first use, because a browser's first format takes tens of milliseconds. */
function once<Format>(make: () => Format): () => Format {
  let made: Format | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Returns the locale of numbers and dates: English like the page, with the reader's region.
 * Excludes the calendars and digits of some regions, which English does not use.
 */
export function formatLocale(languages: readonly string[]): string {
  const valid = languages.flatMap(parseLocale);
  const chosen = valid.find(({ language }) => language === "en") ?? valid[0];
  return `en-${chosen?.maximize().region ?? "US"}-u-ca-gregory-nu-latn`;
}

/** Returns nothing for names from a POSIX environment, such as "C" and "en-US@posix". */
function parseLocale(name: string): Intl.Locale[] {
  try {
    return [new Intl.Locale(name)];
  } catch {
    return [];
  }
}

const locale = once(() => formatLocale(globalThis.navigator?.languages ?? []));
const inNumbers = (options: Intl.NumberFormatOptions) =>
  once(() => new Intl.NumberFormat(locale(), options));
const inDates = (options: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat(locale(), options));

/** The formats of all numbers and dates on the page. */
const whole = inNumbers({});
const signed = inNumbers({ signDisplay: "exceptZero" });
const compact = inNumbers({ notation: "compact" });
const inWholePercent = inNumbers({ style: "percent", maximumFractionDigits: 0 });
const inFinePercent = inNumbers({ style: "percent", maximumFractionDigits: 1 });
const inList = once(() => new Intl.ListFormat(locale(), { type: "conjunction" }));
const weekday = inDates({ weekday: "short", day: "numeric", month: "short" });
const weekdayAndYear = inDates({
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
});
/** Local times name their zone, because times of reports are in UTC. */
const ZONED = { hour: "numeric", minute: "2-digit", timeZoneName: "short" } as const;
const clock = inDates(ZONED);
const dayAndClock = inDates({ year: "numeric", month: "short", day: "numeric", ...ZONED });
/** Mintlify's days are in UTC. */
const UTC = { timeZone: "UTC" } as const;
const clockOfUtc = inDates({ timeStyle: "short", ...UTC });
const dayOfUtc = inDates({ dateStyle: "medium", ...UTC });
const dayAndClockOfUtc = inDates({ dateStyle: "medium", timeStyle: "short", ...UTC });
const axisDayOfUtc = inDates({ day: "numeric", month: "short", ...UTC });

export function count(value: number | null): string {
  return value === null ? "–" : whole().format(value);
}

/** Returns "1 page" or "2 pages". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${whole().format(value)} ${value === 1 ? one : many}`;
}

export function share(part: number | null, whole: number | null): string {
  if (part === null || whole === null || whole === 0) return "–";
  return finePercent(part / whole);
}

/** Returns "45 s", "3 min 05 s", "2 h 10 min" or "4 days". */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** Returns "+1,203", "−77" or "0". */
export function signedCount(difference: number): string {
  return signed().format(difference).replace("-", "\u2212");
}

/** Returns "1.2K", for narrow places. */
export function compactCount(value: number): string {
  return compact().format(value);
}

/** Formats a part from 0 to 1: "12%", or "1.3%" for values below 10%. */
export function percent(part: number): string {
  return part < 0.1 ? finePercent(part) : wholePercent(part);
}

/** Formats a percentage from 0 to 100: "12%", or "1.3%" for values below 10. */
export function percentage(value: number): string {
  return percent(value / 100);
}

export function wholePercent(part: number): string {
  return formatPart(part, inWholePercent(), 0.01);
}

function finePercent(part: number): string {
  return formatPart(part, inFinePercent(), 0.001);
}

/** Rounds to multiples of `step`. Only 0 is shown as 0%, and no part below 1 as 100%. */
function formatPart(part: number, format: Intl.NumberFormat, step: number): string {
  if (part > 0 && part < step / 2) return `<${format.format(step)}`;
  return format.format(part < 1 ? Math.min(part, 1 - step) : part);
}

export function utcClock(time: number): string {
  return clockOfUtc().format(time);
}

/** Returns "Nov 22, 2026, 5:30 PM" in UTC. */
export function utcDayAndTime(time: number): string {
  return dayAndClockOfUtc().format(time);
}

/** Returns "Nov 22, 2026" in UTC. */
export function utcDay(time: number): string {
  return dayOfUtc().format(time);
}

/** Returns "Oct 26 – Nov 22, 2026" in UTC. */
export function utcDays(first: number, last: number): string {
  return dayOfUtc().formatRange(first, last);
}

/** Returns "Nov 22" in UTC, where the context implies the year. */
export function utcAxisDay(time: number): string {
  return axisDayOfUtc().format(time);
}

/** Returns "Mon, Nov 23". Adds the year if it is not the current one. */
export function calendarDay(time: number, now: number): string {
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? weekday : weekdayAndYear)().format(time);
}

/** Returns "5:30 PM GMT+9". */
export function clockTime(time: number): string {
  return clock().format(time);
}

/** Returns "Nov 22, 2026, 5:30 PM GMT+9". */
export function dayAndTime(time: number): string {
  return dayAndClock().format(time);
}

/** Returns the time of day for today, and the date and time for other days. */
export function moment(time: number, now: number): string {
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return isToday ? clockTime(time) : dayAndTime(time);
}

/** Joins phrases: "a, b, and c". */
export function listed(phrases: readonly string[]): string {
  return inList().format(phrases);
}

/** Spells an API value in words: "Thumbs only" for "thumbs_only". */
export function spell(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");
}
