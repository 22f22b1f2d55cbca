import { ARRIVAL, UNTIL } from "./may_be_signed_in.ts";

/** What the tabs of one browser tell each other of their common session. */
export type SessionNews = "signed in" | "signed out";

const channel = new BroadcastChannel("quillgate.session");

/** Whose jobs and drafts this browser keeps. */
const PERSON = "quillgate.person";
/** That somebody has left a page that could sign them in again by itself. */
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

/** Whether the person has signed out, here or in another tab: then nothing signs them in by itself. */
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

/** Remembers it beyond this page, where something would sign the person in. */
export function keepLeft(): void {
  try {
    localStorage.setItem(LEFT, "");
  } catch {}
}

/** Without storage each page that opens asks the gateway. */
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

/** Whether what this browser keeps is somebody else's, as far as it is known whose it is. */
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

/** Where somebody comes back to who signs in outside of this page. */
export function arrivalAddress(search: string): string {
  const query = new URLSearchParams(search);
  query.set(ARRIVAL, "");
  return `/?${query}`;
}
