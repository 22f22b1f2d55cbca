import type { Signal } from "@preact/signals";
import { readLimits } from "quillgate/values";
import { currentTime } from "./clock_skew.ts";

/** The state of a rate limit. */
export interface Limit {
  policy: string;
  /** The number of requests per window, and the window in milliseconds. */
  quota: number;
  window: number;
  left: number;
  /** When the response arrived, in milliseconds since the epoch. */
  at: number;
  /** When the next request becomes free, in milliseconds since the epoch; `null` if unknown. */
  freesAt: number | null;
}

const MAX_RESERVE = 10;

/**
 * Returns how many requests of a shared limit one click must leave for other callers. A caller's
 * own limit has no reserve.
 */
export function reserveOf({ policy, quota }: Limit): number {
  return policy.endsWith("-caller") ? 0 : Math.min(MAX_RESERVE, Math.floor(quota / 10));
}

/** Returns whether at most the reserve is left; false if the limit is unknown. */
export function isReserveReached(limit: Limit | null): boolean {
  return limit !== null && limit.left <= reserveOf(limit);
}

/**
 * Returns when the next request of a used-up limit becomes free, in milliseconds since the epoch;
 * null if one is free or the limit is unknown.
 */
export function usedUpUntil(limit: Limit | null, now: number): number | null {
  if (limit === null || limit.left > 0) return null;
  const freesAt = limit.freesAt ?? limit.at + limit.window;
  return freesAt > now ? freesAt : null;
}

/** Returns the known limit with the fewest requests left; null if the response has none. */
export function tightestLimit(headers: Headers, at: number): Limit | null {
  for (const { policy, left, quota, window, next } of readLimits(headers)) {
    if (quota === null || window === null) continue;
    const freesAt = next === null ? null : at + next * 1000;
    return { policy, quota, window: window * 1000, left, at, freesAt };
  }
  return null;
}

/** Updates the known limit from a response. A response without one changes nothing. */
export function noteLimit(limit: Signal<Limit | null>, headers: Headers): void {
  limit.value = tightestLimit(headers, currentTime()) ?? limit.peek();
}
