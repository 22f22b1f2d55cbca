import { signal } from "@preact/signals";
import { Client } from "quillgate";
import { allows, type Claims, readAccessToken } from "./access_token.ts";
import { JobBook } from "./job_book.ts";
import { ListingCache } from "./listing_cache.ts";
import { ProjectJobs } from "./project_jobs.ts";
import { forget, forgetEverything, recall, remember } from "./tab_storage.ts";

export interface Session {
  projectId: string;
  claims: Claims;
  /** The jobs of this tab. */
  jobs: JobBook;
  /** Everybody's jobs of the project. */
  projectJobs: ProjectJobs;
  views: ListingCache;
  end: AbortController;
}

/** Who is signed in. The token lives in the client, and in this tab's storage for a reload. */
export const session = signal<Session | null>(null);

/** Why the last session ended, when it was not the person's own wish. */
export const farewell = signal<string | null>(null);

const STORED = "session";

export function signIn(projectId: string, token: string, claims: Claims): void {
  remember(STORED, { projectId, token });
  farewell.value = null;
  const end = new AbortController();
  const client = new Client({ baseUrl: location.origin, projectId, token, logLevel: "off" });
  const projectJobs = new ProjectJobs(client, end.signal);
  const onNews = () => {
    if (allows(claims, "jobs:read")) projectJobs.refresh();
  };
  const jobs = new JobBook(client, projectId, end.signal, onNews);
  const views = new ListingCache(client, end.signal);
  session.value = { projectId, claims, jobs, projectJobs, views, end };
  jobs.start();
}

/** Ends the session and forgets all of it: token, jobs and drafts. */
export function signOut(): void {
  endSession();
  forgetEverything();
}

/** Ends the session, but keeps jobs and drafts for the next token. */
export function askForAnotherToken(reason: string | null): void {
  endSession();
  forget(STORED);
  farewell.value = reason;
}

/** Takes up the session that a reload of the page interrupted. */
export function resumeSession(): void {
  const kept = recall(STORED) as { projectId?: unknown; token?: unknown } | null;
  if (typeof kept?.projectId !== "string" || typeof kept.token !== "string") return;
  const reading = readAccessToken(kept.token, Date.now());
  if (reading.ok) signIn(kept.projectId, kept.token, reading.claims);
  else askForAnotherToken(reading.reason);
}

function endSession(): void {
  session.value?.end.abort(new DOMException("the session has ended", "AbortError"));
  session.value = null;
}
