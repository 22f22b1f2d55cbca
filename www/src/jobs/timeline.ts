import type { RecordedChange } from "quillgate";
import { parseInstant, readPullRequest } from "quillgate/values";
import type { WorkSpan } from "../live/time.ts";
import { isFinished, jobState } from "./job_state.ts";
import type { ThreadMessage } from "./thread.ts";
import { JOB_WORDS } from "./words.ts";

export interface TimelineEvent {
  /** In milliseconds since the epoch. */
  at: number;
  text: string;
  /**
   * How long the job ran until this event, in milliseconds; null unless the event ends a run with a
   * known start.
   */
  worked: number | null;
}

interface Step {
  kind: "said" | "changed";
  at: number;
  text: string;
  starts: boolean;
  ends: boolean;
}

/** Returns the events of a job, oldest first. */
export function buildTimeline(
  thread: readonly ThreadMessage[],
  changes: readonly RecordedChange[],
): TimelineEvent[] {
  const events: TimelineEvent[] = [];
  let since: number | null = null;
  for (const { at, text, starts, ends } of stepsOf(thread, changes)) {
    events.push({ at, text, worked: ends && since !== null ? at - since : null });
    if (starts) since ??= at;
    if (ends) since = null;
  }
  return events;
}

/** Returns the last run. Its end is null while unknown. */
export function lastWorkSpan(
  thread: readonly ThreadMessage[],
  changes: readonly RecordedChange[],
): WorkSpan {
  let span: WorkSpan = { startedAt: null, finishedAt: null };
  for (const { at, starts, ends } of stepsOf(thread, changes)) {
    if (starts && (span.startedAt === null || span.finishedAt !== null)) {
      span = { startedAt: at, finishedAt: null };
    }
    if (ends) span.finishedAt ??= at;
  }
  return span;
}

/** Returns all steps in order, without changes to "active" while the job is running. */
function stepsOf(
  thread: readonly ThreadMessage[],
  changes: readonly RecordedChange[],
): readonly Step[] {
  const steps = [...saidSteps(thread), ...changeSteps(changes)];
  steps.sort((one, other) => one.at - other.at);
  let atWork = false;
  return steps.filter(({ kind, starts, ends }) => {
    const isNews = kind === "said" || !(starts && atWork);
    atWork = (atWork || starts) && !ends;
    return isNews;
  });
}

function saidSteps(thread: readonly ThreadMessage[]): Step[] {
  return thread.flatMap(({ kind, author, sentAt }) => {
    if (sentAt === null) return [];
    const by = author === null ? "" : JOB_WORDS.by(author);
    const text = `${kind === "prompt" ? JOB_WORDS.started : JOB_WORDS.followUpSent}${by}`;
    return [{ kind: "said", at: sentAt, text, starts: true, ends: false }];
  });
}

/** Returns a step for each new state or pull request. */
function changeSteps(changes: readonly RecordedChange[]): Step[] {
  const steps: Step[] = [];
  let status: string | null = null;
  let prLink: string | null = null;
  for (const change of changes) {
    const at = parseInstant(change.at);
    if (at === null) continue;
    const request = readPullRequest(change.prLink);
    if (request !== null && change.prLink !== prLink) {
      const name = request.href === null ? JOB_WORDS.opened : request.name;
      steps.push({
        kind: "changed",
        at,
        text: JOB_WORDS.pullRequest(request.noun, name),
        starts: false,
        ends: false,
      });
    }
    if (change.status !== null && change.status !== status) {
      // The prompt's own step already marks the start.
      const isFirst = status === null && change.status === "active";
      if (!isFirst) steps.push(stateStep(change, at));
    }
    ({ status, prLink } = change);
  }
  return steps;
}

function stateStep(change: RecordedChange, at: number): Step {
  const ends = isFinished({ status: change.status });
  const { word } = jobState({ ...change, prLink: null });
  const text = change.status === "completed" ? JOB_WORDS.completed : word;
  return { kind: "changed", at, text, starts: change.status === "active", ends };
}
