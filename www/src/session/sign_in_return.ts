import { keyOf, tabStorage } from "../shell/storage.ts";

/** The query parameter with the reason why a sign-in at an issuer failed. */
export const FAILURE = "sign-in-failed";
/** The query parameter that marks a return from an external sign-in. */
export const ARRIVAL = "signed-in";
/** The storage key of the address from which this tab began to sign in. */
const FROM = keyOf("sign-in-from");

/** Stores the address from which a sign-in at an issuer begins. */
export function noteSignInStart(): void {
  tabStorage.write(FROM, location.search);
}

/** Returns the reason why a sign-in at an issuer failed; null if none failed. */
export function signInFailure(search: string): string | null {
  return new URLSearchParams(search).get(FAILURE);
}

/**
 * After a failed sign-in, restores the address from which it began. The gateway doesn't know this
 * address, for example when the person goes back to a callback that was used before.
 */
export function restoreAddress(): void {
  const failure = signInFailure(location.search);
  const from = tabStorage.read(FROM);
  if (failure === null || typeof from !== "string") return;
  const query = new URLSearchParams(from);
  query.delete(ARRIVAL);
  query.set(FAILURE, failure);
  history.replaceState(null, "", `?${query}`);
}
