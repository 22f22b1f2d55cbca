/**
 * A date, or a date-time with `T` or a space. Its seconds, fraction and zone are optional, and a
 * space may precede the zone.
 */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d)?))?)?$/i;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Parses a date-time of a result, such as `createdAt` of a job or `timestamp` of a conversation.
 *
 * Mintlify does not state the format of its times. This function reads ISO 8601, also with a space
 * instead of `T`. A time without a zone is UTC, unlike in `Date.parse`, which reads it in the zone
 * of the machine. A date alone is its first instant in UTC.
 *
 * @returns milliseconds since 1970, or `null` if the value is not a date-time
 *
 * @example
 * ```ts
 * import { parseInstant } from "quillgate/values";
 *
 * parseInstant("2026-11-27 22:30:00"); // the same as "2026-11-27T22:30:00Z"
 * ```
 */
export function parseInstant(text: string | null | undefined): number | null {
  const parts = INSTANT.exec(text?.trim() ?? "");
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  const midnight = findMidnight(year, month, day);
  // ISO 8601 allows a leap second, and midnight as the end of a day.
  const isEndOfDay = hour === 24 && minute === 0 && second === 0;
  if (midnight === null || (hour > 23 && !isEndOfDay) || minute > 59 || second > 60) return null;
  const offset = readOffset(parts[8], parts[9], parts[10]);
  if (offset === null) return null;
  const milliseconds = Number((parts[7] ?? "").padEnd(3, "0").slice(0, 3));
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds - offset;
}

/** Returns the start of a day in UTC, or `null` if the calendar does not have it. */
function findMidnight(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay ? date.getTime() : null;
}

/** Returns an offset from UTC in milliseconds, or `null` if it is a day or longer. */
function readOffset(
  sign: string | undefined,
  hours: string | undefined,
  minutes = "00",
): number | null {
  if (sign === undefined) return 0;
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  if (Number(minutes) > 59 || offset >= DAY_MS) return null;
  return sign === "-" ? -offset : offset;
}
