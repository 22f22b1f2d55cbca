import type { ListedState } from "./jobs_api.ts";

/** What the page's address says of the jobs. */
export interface JobsAddress {
  /** The job that has the page to itself; null for the list. */
  id: string | null;
  /** A job's state, "active" for one; null for all. */
  state: ListedState | null;
  /** Who started the job; null for everybody. */
  author: string | null;
  /** What its prompts have in them. */
  text: string;
}

/** How much text a gateway looks for. */
export const MAX_SEARCH = 200;

/** The states that a gateway lists jobs by. */
const STATES: readonly ListedState[] = ["active", "completed", "failed", "archived"];

/** The state that has this name, where a gateway lists by it. */
export function findState(name: string | null): ListedState | null {
  return STATES.find((state) => state === name) ?? null;
}

export function parseJobsAddress(query: URLSearchParams): JobsAddress {
  return {
    id: query.get("job") || null,
    state: findState(query.get("state")),
    author: query.get("author") || null,
    text: (query.get("text") ?? "").slice(0, MAX_SEARCH),
  };
}

/** Names and values, only what differs from the usual. */
export function formatJobsAddress({ id, state, author, text }: JobsAddress): [string, string][] {
  const all: [string, string | null][] = [
    ["job", id],
    ["state", state],
    ["author", author],
    ["text", text],
  ];
  return all.filter((pair): pair is [string, string] => Boolean(pair[1]));
}
