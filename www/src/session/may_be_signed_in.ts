import { browserStorage, keyOf } from "../shell/storage.ts";
import { ARRIVAL, signInFailure } from "./sign_in_return.ts";

/** The storage key of the session's expiry. New pages read it before requesting the session. */
export const UNTIL = keyOf("signed-in-until");

/** Returns whether the person has just returned from an external sign-in. */
export function hasArrived(search: string): boolean {
  return new URLSearchParams(search).has(ARRIVAL);
}

/**
 * Returns whether the browser may have a session. Scripts cannot read the cookie itself. A sign-in
 * also fails because it was completed before.
 */
export function mayBeSignedIn(search: string, now: number): boolean {
  if (hasArrived(search) || signInFailure(search) === "sign-in-failed") return true;
  if (!browserStorage.isReadable()) return true;
  return Number(browserStorage.read(UNTIL)) > now;
}
