import type { AgentJob } from "quillgate";
import { readPullRequest } from "quillgate/values";
import type { State } from "../live/state.ts";
import { cutText } from "../shell/readable_text.ts";
import { spell } from "../shell/wording.ts";
import { STATE_WORDS } from "./words.ts";

const TERMINAL = ["completed", "archived", "failed"];
/** The maximum length of a title: about two lines of a narrow window. */
const MAX_TITLE = 100;

/** Returns a job's state in words. Spells an unknown status: "Needs review" for "needs_review". */
export function jobState(job: Pick<AgentJob, "status" | "prLink"> | null): State {
  switch (job?.status ?? null) {
    case "active":
      return { tone: "working", word: STATE_WORDS.working };
    case "completed": {
      const request = readPullRequest(job?.prLink);
      return request === null
        ? { tone: "done", word: STATE_WORDS.unchanged }
        : { tone: "ready", word: STATE_WORDS.requestReady(request.noun) };
    }
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
  const cut = cutText(line, MAX_TITLE);
  const end = cut.lastIndexOf(" ");
  return `${(end > MAX_TITLE / 2 ? cut.slice(0, end) : cut).replace(/[\s.,;:]+$/, "")}…`;
}
