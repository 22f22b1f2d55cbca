import { UNTIL } from "./may_be_signed_in.ts";
import { ARRIVAL, FAILURE } from "./sign_in_return.ts";

/** Messages between the tabs of a browser about their shared session. */
export type SessionNews = "signed in" | "signed out";

const channel = new BroadcastChannel("quillgate.session");

/** The person whose drafts, sent messages and saved views this browser stores. */
const PERSON = "quillgate.person";
/** Set after signing out, where Cloudflare Access could sign the person in again. */
const LEFT = "quillgate.left";

export function tellOtherTabs(news: SessionNews): void {
  channel.postMessage(news);
}

export function hearOtherTabs(listener: (news: SessionNews) => void): void {
  channel.addEventListener("message", ({ data }) => {
    if (data === "signed in" || data === "signed out") listener(data);
  });
}

let hasLeftHere = false;

/**
 * Returns whether the person signed out in any tab, or asked for another token in this tab. Nothing
 * then signs them in automatically.
 */
export function hasLeft(): boolean {
  try {
    return hasLeftHere || localStorage.getItem(LEFT) !== null;
  } catch {
    return hasLeftHere;
  }
}

export function noteLeft(): void {
  hasLeftHere = true;
}

/** Stores what `hasLeft` returns, so that later pages do not sign in automatically. */
export function keepLeft(): void {
  try {
    localStorage.setItem(LEFT, "");
  } catch {}
}

/** Records a sign-in and its expiry. Without storage, every new page requests the session. */
export function noteSignedIn(until: number): void {
  hasLeftHere = false;
  try {
    localStorage.removeItem(LEFT);
    localStorage.setItem(UNTIL, String(until));
  } catch {}
}

export function noteSignedOut(): void {
  try {
    localStorage.removeItem(UNTIL);
  } catch {}
}

/** Returns whether this browser stores data of another person, as far as it knows. */
export function isSomebodyElse(person: string): boolean {
  try {
    const kept = localStorage.getItem(PERSON);
    return kept !== null && kept !== person;
  } catch {
    return false;
  }
}

export function notePerson(person: string): void {
  try {
    localStorage.setItem(PERSON, person);
  } catch {}
}

export function forgetPerson(): void {
  try {
    localStorage.removeItem(PERSON);
  } catch {}
}

/** Returns the address to return to after an external sign-in. */
export function arrivalAddress(search: string): string {
  const query = new URLSearchParams(search);
  query.delete(FAILURE);
  query.set(ARRIVAL, "");
  return `/?${query}`;
}
