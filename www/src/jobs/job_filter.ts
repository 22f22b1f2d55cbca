import type { ListedJob } from "quillgate";
import { readPullRequest } from "quillgate/values";
import { cutText } from "../shell/readable_text.ts";
import { MAX_SEARCH } from "./jobs_address.ts";
import type { GatewayState, JobListParams } from "./jobs_api.ts";
import { STATE_WORDS } from "./words.ts";

/** The states in the filter. To the gateway, both `ready` and `unchanged` are `completed`. */
export type StateChoice = "active" | "ready" | "unchanged" | "failed" | "archived";

/** A filter for jobs. An empty list matches every state or author. */
export interface JobFilter {
  states: readonly StateChoice[];
  /** Subjects of the tokens that started the jobs. */
  authors: readonly string[];
  /** A string that the prompt contains, ignoring case. */
  text: string;
}

export const ALL_JOBS: JobFilter = { states: [], authors: [], text: "" };

export const STATE_CHOICES: readonly { state: StateChoice; label: string }[] = [
  { state: "active", label: STATE_WORDS.working },
  { state: "ready", label: STATE_WORDS.ready },
  { state: "unchanged", label: STATE_WORDS.unchanged },
  { state: "failed", label: STATE_WORDS.failed },
  { state: "archived", label: STATE_WORDS.archived },
];

export function isFiltered({ states, authors, text }: JobFilter): boolean {
  return states.length > 0 || authors.length > 0 || text.trim() !== "";
}

/** Returns the part of a filter that the gateway can apply: one state, one author and `text`. */
export function filterParams({ states, authors, text }: JobFilter): Omit<JobListParams, "limit"> {
  const [state, ...otherStates] = new Set(states.map(gatewayState));
  const [author, ...otherAuthors] = authors;
  const searched = cutText(text.trim(), MAX_SEARCH);
  return {
    ...(state !== undefined && otherStates.length === 0 && { state }),
    ...(author !== undefined && otherAuthors.length === 0 && { author }),
    ...(searched !== "" && { text: searched }),
  };
}

/** Returns whether the gateway can apply the whole filter. Otherwise, the page filters too. */
export function isExact({ states, authors }: JobFilter): boolean {
  const splitsCompleted = states.includes("ready") !== states.includes("unchanged");
  const isOneState = new Set(states.map(gatewayState)).size <= 1;
  return !splitsCompleted && isOneState && authors.length <= 1;
}

/** Returns whether a job matches the states and authors. Only the gateway can search prompts. */
export function meetsStateAndAuthor(job: ListedJob, { states, authors }: JobFilter): boolean {
  const hasState = states.length === 0 || states.some((state) => isIn(job, state));
  return hasState && (authors.length === 0 || authors.includes(job.createdBy ?? ""));
}

/** Returns the authors to choose from, sorted: those seen so far, and those in `named`. */
export function authorChoices(
  seen: ReadonlySet<string>,
  named: readonly (string | null)[],
): string[] {
  const authors = new Set([...seen, ...named.filter((author) => author !== null)]);
  return [...authors].sort((one, other) => one.localeCompare(other));
}

function gatewayState(state: StateChoice): GatewayState {
  return state === "ready" || state === "unchanged" ? "completed" : state;
}

function isIn({ status, prLink }: ListedJob, state: StateChoice): boolean {
  const hasRequest = readPullRequest(prLink) !== null;
  if (state === "ready") return status === "completed" && hasRequest;
  if (state === "unchanged") return status === "completed" && !hasRequest;
  return status === state;
}
