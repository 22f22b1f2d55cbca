import { signal } from "@preact/signals";

/** Smaller differences are ignored: `Date` has whole seconds, and responses take time to arrive. */
const IGNORED_SKEW_MS = 2_000;

/** How far this browser's clock is ahead of the gateway's, in milliseconds. */
export const clockSkew = signal(0);

/** Returns the time by the gateway's clock, in milliseconds since the epoch. */
export function currentTime(): number {
  return Date.now() - clockSkew.peek();
}

/**
 * Compares the clocks, given the headers of a response and when it arrived. Without a valid `Date`,
 * or if a cache answered with an old one, the last comparison stays.
 */
export function noteGatewayDate(headers: Headers, at: number): void {
  if (headers.has("age")) return;
  const skew = at - Date.parse(headers.get("date") ?? "");
  if (Math.abs(skew - clockSkew.peek()) <= IGNORED_SKEW_MS || Number.isNaN(skew)) return;
  clockSkew.value = Math.abs(skew) > IGNORED_SKEW_MS ? skew : 0;
}
