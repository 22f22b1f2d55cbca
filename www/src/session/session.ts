import { batch, effect, signal, untracked } from "@preact/signals";
import type { Client } from "quillgate";
import { announce } from "../shell/announcer.tsx";
import { now } from "../shell/clock.ts";
import { clockSkew, currentTime } from "../shell/clock_skew.ts";
import {
  address,
  adjust,
  claimAddress,
  isOwnedAddress,
  leaveEra,
  startOver,
  visit,
} from "../shell/navigation.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { requestedRoute } from "../shell/route_names.ts";
import { onSignInRequest } from "../shell/sign_in_request.ts";
import { clearToasts, clearUndos, toast } from "../shell/toast.ts";
import { duration } from "../shell/wording.ts";
import { type Claims, differOnlyInExpiry, personOf } from "./claims.ts";
import { deleteSession, readSession } from "./gateway_session.ts";
import { hasArrived, mayBeSignedIn } from "./may_be_signed_in.ts";
import { type Loss, PersonData } from "./person_data.ts";
import { allowedRoutes } from "./routes.ts";
import {
  hearOtherTabs,
  noteLeft,
  noteSignedIn,
  noteSignedOut,
  tellOtherTabs,
} from "./session_news.ts";
import { dropSignInStart, keepSignInStart, signInFailure } from "./sign_in_return.ts";
import { SESSION_WORDS } from "./words.ts";

/** A `fetch` to the gateway. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** One project as the signed-in person sees it. */
export interface Session {
  projectId: string;
  claims: Claims;
  client: Client;
  /** Sends a request of this session, unless it has ended. */
  send: Send;
  /** Everything that the person created or chose on this page. */
  data: PersonData;
  /** Aborted when the session ends or another project is opened. */
  end: AbortController;
}

export type SessionPhase =
  | { name: "checking" }
  | { name: "signed out" }
  | { name: "signed in"; claims: Claims }
  | { name: "unreachable"; problem: Problem };

/** The notice on the sign-in route, such as why the last session ended. */
export interface Farewell {
  text: string;
  /** The label of a button that signs out; null unless the cookie may still be valid. */
  offer: string | null;
}

export const phase = signal<SessionPhase>({ name: "signed out" });

/** Null while signed out, and if the session lacks the project of the address or has none. */
export const session = signal<Session | null>(null);

export const farewell = signal<Farewell | null>(null);

const WARNING_MS = 5 * 60_000;

/** Increases when a check, a sign-in or a sign-out starts, so that late responses are ignored. */
let generation = 0;

/** The latest check of the browser's session. The requests of the open project wait for it. */
let check: Promise<void> = Promise.resolve();

/** Whether the latest check failed and must be repeated. */
let isCheckDue = false;

/** Whether other tabs must still learn of the sign-in at an issuer that led here. */
let isArrivalNews = false;

/** The data of the person who is signed in, or whose session expired in this tab. */
let personData: PersonData | null = null;

/** Whether the address is about the person's project, not a link to one that they cannot open. */
let isPersonsAddress = false;

/** The latest sign-out request. The gateway may not have received it yet. */
let ending: Promise<void> = Promise.resolve();

/**
 * Follows sign-ins and sign-outs in other tabs, the expiry and the address. Restores the browser's
 * session if the browser may have one.
 */
export function followSession(): void {
  // Keep drafts for the next token.
  onSignInRequest((reason) => endHere(reason, "keep"));
  hearOtherTabs((news) => {
    if (news === "signed in") return void takeUpSession("changed elsewhere");
    noteLeft();
    const { name } = phase.peek();
    // The other tab has deleted what tabs share. The next person may have signed in since.
    if (name === "checking" || name === "unreachable") {
      forgetAll("this tab");
      takeUpSession("changed elsewhere");
    } else if (name === "signed in" || personData !== null) {
      endHere(SESSION_WORDS.signedOutElsewhere, "forget here");
    }
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && phase.peek().name === "signed in") takeUpSession("changed elsewhere");
  });
  for (const [target, event] of [
    [globalThis, "online"],
    [document, "visibilitychange"],
  ] as const) {
    target.addEventListener(event, () => {
      if (isCheckDue && !document.hidden) takeUpSession("changed elsewhere");
    });
  }
  effect(endInTime);
  effect(followProject);
  isPersonsAddress = isOwnedAddress();
  isArrivalNews = hasArrived(location.search);
  if (mayBeSignedIn(location.search, Date.now())) takeUpSession("on arrival");
  else keepForOwner();
}

/**
 * Enters the session of the browser's cookie. Without a valid cookie, shows the sign-in form. After
 * any other failure, shows the problem instead of a session that may be another person's, and checks
 * again when the browser is online or the tab is visible.
 */
export function takeUpSession(when: "on arrival" | "changed elsewhere"): Promise<void> {
  check = checkSession(when);
  return check;
}

async function checkSession(when: "on arrival" | "changed elsewhere"): Promise<void> {
  const turn = ++generation;
  isCheckDue = false;
  if (when === "on arrival") phase.value = { name: "checking" };
  // Its response deletes the cookie.
  await ending.catch(() => {});
  if (turn !== generation) return;
  try {
    const claims = await readSession();
    if (turn !== generation) return;
    if (claims !== null && isArrivalNews) {
      isArrivalNews = false;
      tellOtherTabs("signed in");
    }
    if (claims === null)
      endHere(hasArrived(location.search) ? SESSION_WORDS.noCookie : null, "keep");
    else await enter(claims, turn);
  } catch (error) {
    if (turn !== generation) return;
    if (phase.peek().name === "signed out") isCheckDue = true;
    else showProblem(error);
  }
}

function showProblem(error: unknown): void {
  isCheckDue = true;
  leave({ name: "unreachable", problem: describeProblem(error, currentTime()) });
}

/**
 * Opens a session, notifies other tabs and enters the session. If another change started meanwhile,
 * enters the session of the browser's cookie.
 */
export async function takeUp(open: () => Promise<Claims>): Promise<void> {
  const turn = ++generation;
  const wasCheckDue = isCheckDue;
  isCheckDue = false;
  // The response to a sign-out deletes the cookie, even a new one.
  await ending.catch(() => {});
  const claims = await open().catch((error: unknown) => {
    isCheckDue ||= wasCheckDue;
    throw error;
  });
  tellOtherTabs("signed in");
  if (turn !== generation) {
    await ending.catch(() => {});
    return takeUpSession("changed elsewhere");
  }
  try {
    await enter(claims, turn);
  } catch (error) {
    if (turn === generation) showProblem(error);
  }
}

/** Counts what signing out deletes. */
export function personLoss(): Loss {
  return personData?.loss() ?? NOTHING;
}

/** Ends the session in every tab and deletes its data, including drafts, saved views and templates. */
export async function signOut(): Promise<void> {
  noteLeft();
  endHere(null, "forget");
  tellOtherTabs("signed out");
  try {
    ending = deleteSession();
    await ending;
    // A tab that checked its session meanwhile can have entered the ended one.
    tellOtherTabs("signed out");
    farewell.value = null;
  } catch {
    farewell.value = {
      text: SESSION_WORDS.signOutFailed,
      offer: SESSION_WORDS.signOutAgain,
    };
  }
}

/** Shows the sign-in form. The old session stays valid until a new one replaces it. */
export function replaceSession(): void {
  noteLeft();
  endHere(null, "keep");
  farewell.value = {
    text: SESSION_WORDS.stillSignedIn,
    offer: SESSION_WORDS.signOut,
  };
}

/**
 * Opens another project on the same route, without the open job, the filters of jobs and the open
 * page.
 */
export function switchProject(projectId: string): void {
  visit({ project: projectId });
}

async function untilChecked(): Promise<void> {
  let seen: Promise<void>;
  do {
    seen = check;
    await seen;
  } while (seen !== check);
}

async function enter(claims: Claims, turn: number): Promise<void> {
  const data = takeOver(personOf(claims));
  // A new page only knows this browser's clock until the gateway answers.
  noteSignedIn(claims.expiresAt + clockSkew.peek());
  const { openSession } = await import("./open_session.ts").catch(toCodeLoadError);
  if (turn !== generation) return;
  isCheckDue = false;
  openProject = (projectId) => openSession(projectId, claims, data, untilChecked);
  const before = phase.peek();
  const isRenewal = before.name === "signed in" && differOnlyInExpiry(before.claims, claims);
  batch(() => {
    // A renewal changes only the expiry, so the content stays.
    if (!isRenewal) closeProject();
    farewell.value = null;
    claimAddress(data.person, isPersonsAddress ? "nothing" : "the address");
    if (requestedRoute(location.search) === null) {
      const [first] = allowedRoutes(claims);
      if (first) adjust({ route: first.id });
    } else if (signInFailure(location.search) !== null || hasArrived(location.search)) {
      // The outcome of a sign-in at an issuer no longer matters.
      adjust({});
    }
    phase.value = { name: "signed in", claims };
  });
}

/** A new version of the page removes the code of the old one. */
function toCodeLoadError(cause: unknown): never {
  const error = new Error("the code of the session couldn’t be loaded", { cause });
  error.name = "CodeLoadError";
  throw error;
}

const NOTHING: Loss = { drafts: 0, views: 0, templates: 0 };
const ENDED = new DOMException("the session has ended", "AbortError");
const NOT_SIGNED_IN = (): Session => {
  throw new Error("not signed in");
};
let openProject: (projectId: string) => Session = NOT_SIGNED_IN;

/**
 * Opens the project of the address. Without one, keeps the open project or opens the first. If the
 * session lacks the project, closes the open project.
 */
function followProject(): void {
  const { project } = address.value;
  const current = phase.value;
  if (current.name !== "signed in") return;
  const { projects } = current.claims;
  const open = session.peek()?.projectId;
  const wanted = project ?? open ?? projects[0];
  isPersonsAddress = wanted !== undefined && projects.includes(wanted);
  if (wanted === undefined || !projects.includes(wanted)) {
    untracked(closeProject);
    return;
  }
  if (wanted !== open) {
    untracked(closeProject);
    session.value = openProject(wanted);
  }
  // Add the project to the address, so that links to the current content include it.
  if (project !== wanted) adjust({ project: wanted });
}

function closeProject(): void {
  session.peek()?.end.abort(ENDED);
  session.value = null;
  // They would change lists that are no longer shown.
  clearUndos();
}

let warnedOf = 0;

/** Warns up to five minutes before the session ends, and ends it on time. */
function endInTime(): void {
  const current = phase.value;
  if (current.name !== "signed in") return;
  const { expiresAt } = current.claims;
  const left = expiresAt - now.value;
  if (left <= 0) {
    endHere(SESSION_WORDS.ended(personData?.refusedDrafts() ?? 0), "keep");
  } else if (left < WARNING_MS && warnedOf !== expiresAt) {
    warnedOf = expiresAt;
    toast({
      text: SESSION_WORDS.endsSoon(duration(left), personData?.refusedDrafts() ?? 0),
      action: { label: SESSION_WORDS.signInAgain, run: replaceSession },
    });
  }
}

function endHere(reason: string | null, what: "keep" | "forget" | "forget here"): void {
  generation += 1;
  isCheckDue = false;
  leave({ name: "signed out" });
  if (what === "keep") keepForOwner();
  else forgetAll(what === "forget" ? "everywhere" : "this tab");
  // The other tab did this. The next person may have signed in since.
  if (what !== "forget here") noteSignedOut();
  farewell.value = reason === null ? null : { text: reason, offer: null };
}

/** Hides what belongs to a person whose session has ended. It stays for this person only. */
function keepForOwner(): void {
  dropSignInStart();
  leaveEra(isPersonsAddress ? "nothing" : "the address");
  isPersonsAddress = false;
}

/** Closes the project first, so that nothing below opens it again. */
function leave(next: SessionPhase): void {
  batch(() => {
    closeProject();
    phase.value = next;
  });
  clearToasts();
}

/** Returns the person's data. Deletes that of another person from this browser and this tab. */
function takeOver(person: string): PersonData {
  if (personData?.person !== person) {
    if (personData !== null) {
      // The sign-in form could sign in another way.
      leave({ name: "checking" });
      // The constructor below deletes the rest, except what the new person has from another tab.
      forgetAll("this tab");
    }
    personData = new PersonData(person);
    keepSignInStart(person);
  }
  return personData;
}

/** Deletes everything about the person except preferences. */
function forgetAll(where: "everywhere" | "this tab"): void {
  personData?.forget(where);
  personData = null;
  openProject = NOT_SIGNED_IN;
  startOver(isPersonsAddress ? "the route" : "the address");
  isPersonsAddress = false;
  announce("");
}
