import { keyOf, tabStorage } from "../shell/storage.ts";

/** The query parameter with the reason why a sign-in at an issuer failed. */
export const FAILURE = "sign-in-failed";
/** The query parameter that marks a return from an external sign-in. */
export const ARRIVAL = "signed-in";
/** The storage key of the address from which this tab began to sign in. */
export const FROM = keyOf("sign-in-from");

interface SignInStart {
  search: string;
  /** Null until the sign-in is complete. */
  person: string | null;
}

/** Stores the address from which a sign-in at an issuer begins. */
export function noteSignInStart(): void {
  tabStorage.write(FROM, { search: location.search, person: null });
}

/** Leaves the stored address to the person who has signed in. Deletes that of another person. */
export function keepSignInStart(person: string): void {
  const { search, person: owner = null } = Object(tabStorage.read(FROM)) as Partial<SignInStart>;
  if (search === undefined) return;
  if (owner === null || owner === person) tabStorage.write(FROM, { search, person });
  else tabStorage.remove(FROM);
}

/** Deletes the stored address of a person whose session has ended. */
export function dropSignInStart(): void {
  const { person = null } = Object(tabStorage.read(FROM)) as Partial<SignInStart>;
  if (person !== null) tabStorage.remove(FROM);
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
  const { search: from } = Object(tabStorage.read(FROM)) as Partial<SignInStart>;
  if (failure === null || typeof from !== "string") return;
  const query = new URLSearchParams(from);
  query.delete(ARRIVAL);
  query.set(FAILURE, failure);
  history.replaceState(history.state, "", `?${query}`);
}
