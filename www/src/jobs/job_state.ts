import type { AgentJob } from "quillgate";
import { spell } from "../shell/wording.ts";
import { STATE_WORDS } from "./words.ts";

export type Tone = "working" | "ready" | "done" | "failed" | "archived" | "unknown";

export interface JobState {
  tone: Tone;
  word: string;
}

const TERMINAL = ["completed", "archived", "failed"];
/** The maximum length of a title: about two lines of a narrow window. */
const MAX_TITLE = 100;

/** Returns a job's state in words. Spells an unknown status: "Needs review" for "needs_review". */
export function jobState(job: Pick<AgentJob, "status" | "prLink"> | null): JobState {
  switch (job?.status ?? null) {
    case "active":
      return { tone: "working", word: STATE_WORDS.working };
    case "completed":
      return job?.prLink
        ? { tone: "ready", word: STATE_WORDS.ready }
        : { tone: "done", word: STATE_WORDS.unchanged };
    case "failed":
      return { tone: "failed", word: STATE_WORDS.failed };
    case "archived":
      return { tone: "archived", word: STATE_WORDS.archived };
    case null:
      return { tone: "unknown", word: STATE_WORDS.unknown };
    default:
      return { tone: "unknown", word: spell(String(job?.status)) };
  }
}

export function isFinished(job: Pick<AgentJob, "status"> | null): boolean {
  return TERMINAL.includes(job?.status ?? "");
}

/** Returns the address and short name of a pull request; null if the address is unsafe to link. */
export function pullRequest(prLink: string): { href: string; name: string } | null {
  const url = parseUrl(prLink);
  if (url === null || url.protocol !== "https:") return null;
  // "https://github.com@elsewhere.example" looks like GitHub but opens another site.
  if (url.username !== "" || url.password !== "") return null;
  return { href: url.href, name: pullRequestName(url) };
}

/**
 * Returns the list of pull requests of the same repository; null unless the link is safe and names
 * a pull request on GitHub.
 */
export function pullRequestList(prLink: string): { href: string; repository: string } | null {
  const request = pullRequest(prLink);
  const [, repository] = /^([\w.-]+\/[\w.-]+)#\d+$/.exec(request?.name ?? "") ?? [];
  if (repository === undefined) return null;
  return { href: `https://github.com/${repository}/pulls?q=is:pr+sort:created-desc`, repository };
}

export function firstLine(prompt: string): string {
  return prompt.trim().split(/\r?\n/, 1)[0] ?? "";
}

/**
 * Returns the prompt's first line as a title, without heading marks. Cuts a long line, between
 * words if possible.
 */
export function titleOf(prompt: string): string {
  const line = firstLine(prompt).replace(/^#+\s+/, "");
  if (line.length <= MAX_TITLE) return line;
  const cut = line.slice(0, MAX_TITLE);
  const end = cut.lastIndexOf(" ");
  return `${(end > MAX_TITLE / 2 ? cut.slice(0, end) : cut).replace(/[\s.,;:]+$/, "")}…`;
}

function pullRequestName(url: URL): string {
  const request = /^\/([^/]+)\/([^/]+)\/pull\/(\d+)/.exec(url.pathname);
  if (url.host === "github.com" && request) return `${request[1]}/${request[2]}#${request[3]}`;
  return url.host + url.pathname.replace(/\/$/, "");
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
