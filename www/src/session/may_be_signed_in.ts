/** Stores when the session ends, so that a new page knows whether to request it. */
export const UNTIL = "quillgate.signed-in-until";
/** The query parameter of the address to which an external sign-in returns. */
export const ARRIVAL = "signed-in";

/** Returns whether the person has just returned from an external sign-in. */
export function hasArrived(search: string): boolean {
  return new URLSearchParams(search).has(ARRIVAL);
}

/** Returns whether the browser may have a session. Scripts cannot read the cookie itself. */
export function mayBeSignedIn(search: string, now: number): boolean {
  if (hasArrived(search)) return true;
  try {
    return Number(localStorage.getItem(UNTIL)) > now;
  } catch {
    return true;
  }
}
