import type { JobListChange, JobPage, ListedJob } from "quillgate";
import { type JobFilter, meetsStateAndAuthor } from "./job_filter.ts";

/** A changed or deleted job. */
export type JobUpdate = Exclude<JobListChange, { reset: true }>;

/** Jobs as listed, newest first, and where the list goes on. */
export interface JobListing {
  jobs: readonly ListedJob[];
  /** Null after the last job. */
  more: string | null;
}

export interface AppliedEvent {
  listing: JobListing;
  /** Whether only the gateway can say what the list is now. */
  isOpen: boolean;
}

export function toListing({ jobs, nextCursor }: JobPage): JobListing {
  return { jobs, more: nextCursor };
}

/** What is shown, with the newest page in the place of what it renews. */
export function renewListing(shown: JobListing, page: JobPage): JobListing {
  // A search stopped before its first match, and what is shown came with later pages.
  if (page.jobs.length === 0 && page.nextCursor !== null) return shown;
  const ids = new Set(page.jobs.map(({ id }) => id));
  const last = shown.jobs.findLastIndex(({ id }) => ids.has(id));
  const older = shown.jobs.slice(last + 1);
  // Without a job in both there may be others between them.
  if (last === -1 || older.length === 0 || page.nextCursor === null) return toListing(page);
  return { jobs: [...page.jobs, ...older], more: shown.more };
}

/** What is shown, and the page after it, each job once. */
export function extendListing(shown: JobListing, page: JobPage): JobListing {
  const ids = new Set(shown.jobs.map(({ id }) => id));
  const further = page.jobs.filter(({ id }) => !ids.has(id));
  return { jobs: [...shown.jobs, ...further], more: page.nextCursor };
}

/** The list after one piece of news. */
export function applyEvent(shown: JobListing, event: JobUpdate, filter: JobFilter): AppliedEvent {
  if (event.deleted !== undefined)
    return { listing: removeJob(shown, event.deleted), isOpen: false };
  const { job } = event;
  const place = shown.jobs.findIndex(({ id }) => id === job.id);
  if (!meetsStateAndAuthor(job, filter))
    return { listing: removeJob(shown, job.id), isOpen: false };
  if (place >= 0)
    return { listing: { ...shown, jobs: shown.jobs.with(place, job) }, isOpen: false };
  // An event has the first line of a prompt, and the text may be in another.
  if (filter.text.trim() !== "") return { listing: shown, isOpen: true };
  return { listing: insertJob(shown, job), isOpen: false };
}

function removeJob(shown: JobListing, id: string): JobListing {
  if (!shown.jobs.some((job) => job.id === id)) return shown;
  return { ...shown, jobs: shown.jobs.filter((job) => job.id !== id) };
}

function insertJob(shown: JobListing, job: ListedJob): JobListing {
  const created = job.createdAt ?? "";
  const next = shown.jobs.findIndex(({ createdAt }) => (createdAt ?? "") <= created);
  // Older than all that is shown: it comes with a later page.
  if (next === -1 && shown.more !== null) return shown;
  return { ...shown, jobs: shown.jobs.toSpliced(next === -1 ? shown.jobs.length : next, 0, job) };
}
