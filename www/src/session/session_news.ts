import { browserStorage } from "../shell/storage.ts";
import { UNTIL } from "./may_be_signed_in.ts";
import { LEFT } from "./person_data.ts";
import { ARRIVAL, FAILURE } from "./sign_in_return.ts";

/** Messages between the tabs of a browser about their shared session. */
export type SessionNews = "signed in" | "signed out";

const channel = new BroadcastChannel("quillgate.session");

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
  return hasLeftHere || browserStorage.read(LEFT) !== null;
}

export function noteLeft(): void {
  hasLeftHere = true;
}

/** Stores what `hasLeft` returns, so that later pages do not sign in automatically. */
export function keepLeft(): void {
  browserStorage.write(LEFT, true);
}

/** Records a sign-in and its expiry. Without storage, every new page requests the session. */
export function noteSignedIn(until: number): void {
  hasLeftHere = false;
  browserStorage.remove(LEFT);
  browserStorage.write(UNTIL, until);
}

export function noteSignedOut(): void {
  browserStorage.remove(UNTIL);
}

/** Returns the address to return to after an external sign-in. */
export function arrivalAddress(search: string): string {
  const query = new URLSearchParams(search);
  query.delete(FAILURE);
  query.set(ARRIVAL, "");
  return `/?${query}`;
}
