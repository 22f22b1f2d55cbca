import type { ListedJob } from "quillgate";
import { MAX_SEARCH } from "./jobs_address.ts";
import type { JobListParams, ListedState } from "./jobs_api.ts";

/** Which jobs of a project are listed. */
export interface JobFilter {
  state: ListedState | null;
  /** The subject of the token that started the job. */
  author: string | null;
  /** What a prompt has in it, whatever its case. */
  text: string;
}

export const ALL_JOBS: JobFilter = { state: null, author: null, text: "" };

export const STATE_CHOICES: readonly { state: ListedState; label: string }[] = [
  { state: "active", label: "Working" },
  { state: "completed", label: "Completed" },
  { state: "failed", label: "Failed" },
  { state: "archived", label: "Archived" },
];

export function isFiltered({ state, author, text }: JobFilter): boolean {
  return state !== null || author !== null || text.trim() !== "";
}

export function sameFilter(one: JobFilter, other: JobFilter): boolean {
  return one.state === other.state && one.author === other.author && one.text === other.text;
}

/** The filter as a gateway reads it. */
export function filterParams({ state, author, text }: JobFilter): Omit<JobListParams, "limit"> {
  const searched = text.trim().slice(0, MAX_SEARCH);
  return {
    ...(state !== null && { state }),
    ...(author !== null && { author }),
    ...(searched !== "" && { text: searched }),
  };
}

/** Whether a job's state and author are asked for. Its text only the gateway can judge. */
export function meetsStateAndAuthor(job: ListedJob, { state, author }: JobFilter): boolean {
  return (state === null || job.status === state) && (author === null || job.createdBy === author);
}

/** Whether a job is asked for, as far as its first line tells. */
export function meetsFilter(job: ListedJob, filter: JobFilter): boolean {
  const searched = filter.text.trim().toLowerCase();
  return meetsStateAndAuthor(job, filter) && (job.prompt ?? "").toLowerCase().includes(searched);
}

/** Who can be asked for, in the order of the alphabet: who was seen, and whoever else is named. */
export function authorChoices(
  seen: ReadonlySet<string>,
  named: readonly (string | null)[],
): string[] {
  const authors = new Set([...seen, ...named.filter((author) => author !== null)]);
  return [...authors].sort((one, other) => one.localeCompare(other));
}
