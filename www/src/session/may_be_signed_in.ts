/** When the session ends, for a page that opens: it says whether asking the gateway is worth it. */
export const UNTIL = "quillgate.signed-in-until";
/** Added to the address by whoever signs a person in outside of this page. */
export const ARRIVAL = "signed-in";

/** Whether the person has just been signed in outside of this page. */
export function hasArrived(search: string): boolean {
  return new URLSearchParams(search).has(ARRIVAL);
}

/** Whether the browser may have a session, as far as a script can know. */
export function mayBeSignedIn(search: string, now: number): boolean {
  if (hasArrived(search)) return true;
  try {
    return Number(localStorage.getItem(UNTIL)) > now;
  } catch {
    return true;
  }
}
