/** Parses and formats durations. */

import { parseInstant } from "../instant.js";
import { UsageError } from "./errors.js";

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
export const [DAY_MS, HOUR_MS, SECOND_MS] = [86_400_000, 3_600_000, 1000];
/** The maximum delay of `setTimeout`: 2³¹ − 1 ms, or about 24.8 days. */
const MAX_DURATION_MS = 2_147_483_647;

/**
 * Parses a duration such as `90s`, `10m` or `1h`.
 *
 * @param flag the flag to name in an error
 * @param max in milliseconds
 * @returns milliseconds
 * @throws {UsageError} if the duration is malformed or exceeds the maximum
 */
export function readDuration(text: string, flag: string, max = MAX_DURATION_MS): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit ?? ""] ?? Number.NaN) * 1000;
  if (!(ms >= 0)) throw new UsageError(`${flag} must be a duration such as 90s, 10m or 1h`);
  if (ms > max) throw new UsageError(`${flag} is at most ${showDuration(max)}`);
  return ms;
}

/**
 * Parses a number of rows, from 1 to 999,999,999.
 *
 * @throws {UsageError} if the number is malformed or out of range
 */
export function readCount(text: string, flag: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new UsageError(`${flag} must be a whole number of at least 1`);
  }
  return Number(text);
}

/** Formats a waiting time, rounded up: `90 s`, `50 min`, `3 h`. */
export function showWait(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** The units of a relative time in milliseconds, largest first. */
const RELATIVE_UNITS = [
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", 60_000],
  ["second", SECOND_MS],
] as const;
/** Instants at least this far away are formatted as dates. */
const MAX_RELATIVE_MS = 30 * DAY_MS;

/**
 * Formats an instant relative to now, such as `5 minutes ago`, or as a UTC date if it is at least
 * 30 days away.
 *
 * @param time an ISO 8601 date-time; another string is returned unchanged
 * @param now in milliseconds since 1970
 */
export function showRelativeTime(time: string, now: number): string {
  const instant = parseInstant(time);
  if (instant === null) return time;
  const passed = now - instant;
  if (Math.abs(passed) >= MAX_RELATIVE_MS) return toDay(instant);
  const [unit, length] =
    RELATIVE_UNITS.find(([, ms]) => Math.abs(passed) >= ms) ?? (["second", 1000] as const);
  const format = new Intl.RelativeTimeFormat("en");
  return format.format(-Math.trunc(passed / length), unit);
}

/** Formats a duration in milliseconds, rounded up to seconds: `0:42`, `12:03`, `1:00:00`. */
export function showDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown
    .map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, "0")))
    .join(":");
}

/** Formats the UTC day of an instant as `YYYY-MM-DD`. */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
