import type { JobListChange, JobPage, ListedJob } from "quillgate";
import { type JobFilter, meetsStateAndAuthor } from "./job_filter.ts";

export type JobUpdate = Exclude<JobListChange, { reset: true }>;

/** Jobs, newest first, and the cursor of the next page. */
export interface JobListing {
  jobs: readonly ListedJob[];
  /** The cursor of the next page; null after the last job. */
  more: string | null;
}

export interface AppliedEvent {
  listing: JobListing;
  /** Whether the change may affect the list in a way that only the gateway can determine. */
  isOpen: boolean;
}

export function toListing({ jobs, nextCursor }: JobPage): JobListing {
  return { jobs, more: nextCursor };
}

/** Replaces the newest jobs of a list with a fresh first page. */
export function renewListing(shown: JobListing, page: JobPage): JobListing {
  // The gateway stopped searching before the first match. The shown jobs came with later pages.
  if (page.jobs.length === 0 && page.nextCursor !== null) return shown;
  const ids = new Set(page.jobs.map(({ id }) => id));
  const last = shown.jobs.findLastIndex(({ id }) => ids.has(id));
  const older = shown.jobs.slice(last + 1);
  // Without an overlap, jobs between the page and the list may be missing.
  if (last === -1 || page.nextCursor === null) return toListing(page);
  return { jobs: [...page.jobs, ...older], more: shown.more };
}

/** Appends a page to a list, without duplicates. */
export function extendListing(shown: JobListing, page: JobPage): JobListing {
  const ids = new Set(shown.jobs.map(({ id }) => id));
  const further = page.jobs.filter(({ id }) => !ids.has(id));
  return { jobs: [...shown.jobs, ...further], more: page.nextCursor };
}

export function applyEvent(shown: JobListing, event: JobUpdate, filter: JobFilter): AppliedEvent {
  if (event.deleted !== undefined)
    return { listing: removeJob(shown, event.deleted), isOpen: false };
  const { job } = event;
  const place = shown.jobs.findIndex(({ id }) => id === job.id);
  if (!meetsStateAndAuthor(job, filter))
    return { listing: removeJob(shown, job.id), isOpen: false };
  if (place >= 0)
    return { listing: { ...shown, jobs: shown.jobs.with(place, job) }, isOpen: false };
  // An event contains only the prompt's first line. The search string may match another line.
  if (filter.text.trim() !== "") return { listing: shown, isOpen: true };
  const listing = insertJob(shown, job);
  // The cursor of a filtered list can be beyond a job that did not match before.
  const isFiltered = filter.states.length > 0 || filter.authors.length > 0;
  return { listing, isOpen: isFiltered && listing === shown };
}

function removeJob(shown: JobListing, id: string): JobListing {
  if (!shown.jobs.some((job) => job.id === id)) return shown;
  return { ...shown, jobs: shown.jobs.filter((job) => job.id !== id) };
}

function insertJob(shown: JobListing, job: ListedJob): JobListing {
  const created = job.createdAt ?? "";
  const next = shown.jobs.findIndex(({ createdAt }) => (createdAt ?? "") <= created);
  // The job is older than the shown ones. It will load with a later page.
  if (next === -1 && shown.more !== null) return shown;
  return { ...shown, jobs: shown.jobs.toSpliced(next === -1 ? shown.jobs.length : next, 0, job) };
}
