import { registerAddressPart } from "../shell/address.ts";
import { cutText } from "../shell/readable_text.ts";
import type { JobFilter, StateChoice } from "./job_filter.ts";

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
/** Quotation marks and whitespace around a pasted id. */
const QUOTES = /^[\s"'`“”‘’«»]+|[\s"'`“”‘’«»]+$/g;
/** The maximum length of a search string. */
export const MAX_SEARCH = 200;

export function parseJobsAddress(query: URLSearchParams): JobsAddress {
  const named = query.getAll("state");
  return {
    id: query.get("job") || null,
    states: STATES.filter((state) => named.includes(state)),
    authors: [...new Set(query.getAll("author").filter(Boolean))],
    text: cutText(query.get("text") ?? "", MAX_SEARCH),
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
  onOtherProject: () => parseJobsAddress(new URLSearchParams()),
});

/**
 * Returns the job id in a pasted text. Removes quotation marks and invisible characters. From a link
 * to a job, such as this page's own, takes the job's id.
 */
export function readJobId(text: string): string {
  const pasted = text.replace(/[\p{Cc}\p{Cf}]/gu, "").replace(QUOTES, "");
  const url = /^https?:/i.test(pasted) && URL.canParse(pasted) ? new URL(pasted) : null;
  const [, inPath] = /\/job\/([^/]+)/.exec(url?.pathname ?? "") ?? [];
  return url?.searchParams.get("job")?.trim() || inPath || pasted;
}
