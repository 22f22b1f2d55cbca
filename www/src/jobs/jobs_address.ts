import { registerAddressPart } from "../shell/address.ts";
import type { JobFilter, StateChoice } from "./job_filter.ts";

/** The address parameters of the jobs route. */
export interface JobsAddress extends JobFilter {
  /** The job that is shown; null for the list. */
  id: string | null;
}

declare module "../shell/address.ts" {
  interface AddressParts {
    jobs: JobsAddress;
  }
}

const STATES: readonly StateChoice[] = ["active", "ready", "unchanged", "failed", "archived"];
/** The maximum length of a search string. */
export const MAX_SEARCH = 200;

export function parseJobsAddress(query: URLSearchParams): JobsAddress {
  const named = query.getAll("state");
  return {
    id: query.get("job") || null,
    states: STATES.filter((state) => named.includes(state)),
    authors: [...new Set(query.getAll("author").filter(Boolean))],
    text: (query.get("text") ?? "").slice(0, MAX_SEARCH),
  };
}

/** Returns the names and values that differ from the defaults. */
export function formatJobsAddress({ id, states, authors, text }: JobsAddress): [string, string][] {
  return [
    ...(id === null ? [] : [["job", id] as [string, string]]),
    ...states.map((state): [string, string] => ["state", state]),
    ...authors.map((author): [string, string] => ["author", author]),
    ...(text === "" ? [] : [["text", text] as [string, string]]),
  ];
}

registerAddressPart("jobs", {
  routes: ["jobs"],
  parse: parseJobsAddress,
  format: formatJobsAddress,
});
