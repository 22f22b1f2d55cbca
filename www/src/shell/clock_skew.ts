import { signal } from "@preact/signals";

/** Smaller differences are ignored: `Date` has whole seconds, and responses take time to arrive. */
const IGNORED_SKEW_MS = 2_000;

/** How far this browser's clock is ahead of the gateway's, in milliseconds. */
export const clockSkew = signal(0);

/** Returns the time by the gateway's clock, in milliseconds since the epoch. */
export function currentTime(): number {
  return Date.now() - clockSkew.peek();
}

/** Compares the clocks, given the `Date` header of a response that has just arrived. */
export function noteGatewayDate(date: string | null): void {
  clockSkew.value = skewOf(date, Date.now());
}

/** Returns how far `now` is ahead of a `Date` header; 0 if only slightly or if it is invalid. */
export function skewOf(date: string | null, now: number): number {
  const skew = now - Date.parse(date ?? "");
  return Math.abs(skew) > IGNORED_SKEW_MS ? skew : 0;
}
