import type { AgentJob } from "quillgate";

export type Tone = "working" | "ready" | "done" | "failed" | "archived" | "unknown";

export interface JobState {
  tone: Tone;
  word: string;
}

const TERMINAL = ["completed", "archived", "failed"];
/** How much of a prompt names its job: about two lines of a narrow window. */
const MAX_TITLE = 100;

/** A job's state as a person would say it. A status this page does not know is shown as it is. */
export function jobState(job: Pick<AgentJob, "status" | "prLink"> | null): JobState {
  switch (job?.status ?? null) {
    case "active":
      return { tone: "working", word: "Working" };
    case "completed":
      return job?.prLink
        ? { tone: "ready", word: "Pull request ready" }
        : { tone: "done", word: "Done, no changes" };
    case "failed":
      return { tone: "failed", word: "Failed" };
    case "archived":
      return { tone: "archived", word: "Archived" };
    case null:
      return { tone: "unknown", word: "Not known yet" };
    default:
      return { tone: "unknown", word: String(job?.status) };
  }
}

export function isFinished(job: Pick<AgentJob, "status"> | null): boolean {
  return TERMINAL.includes(job?.status ?? "");
}

/** A pull request's address, when it is safe to offer as a link, and a short name for it. */
export function pullRequest(prLink: string): { href: string; name: string } | null {
  const url = parseUrl(prLink);
  if (url === null || url.protocol !== "https:") return null;
  // "https://github.com@elsewhere.example" reads as another site than it opens.
  if (url.username !== "" || url.password !== "") return null;
  return { href: url.href, name: pullRequestName(url) };
}

/** Where the pull requests of the same repository are listed; null for hosts this page does not know. */
export function pullRequestList(prLink: string): { href: string; repository: string } | null {
  const request = pullRequest(prLink);
  const [, repository] = /^([\w.-]+\/[\w.-]+)#\d+$/.exec(request?.name ?? "") ?? [];
  if (repository === undefined) return null;
  return { href: `https://github.com/${repository}/pulls?q=is:pr+sort:created-desc`, repository };
}

/** The first line that says something, for lists and announcements. */
export function firstLine(prompt: string): string {
  return prompt.trim().split(/\r?\n/, 1)[0] ?? "";
}

/** A prompt's first line, or as many of its words as make a title. */
export function titleOf(prompt: string): string {
  const line = firstLine(prompt);
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
