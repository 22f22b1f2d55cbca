import { parseInstant } from "quillgate/values";
import { DAY_MS } from "../shell/durations.ts";
import { dayAndTime, duration, moment } from "../shell/wording.ts";
import { isFinished } from "./job_state.ts";
import type { WorkSpan } from "./timeline.ts";

export interface JobTime {
  text: string;
  /** The start or end that the words are about, in milliseconds since the epoch. */
  instant: number;
}

const JUST_MS = 2_000;

/**
 * Describes how long a job ran or has been running. If it took days or its end is unknown,
 * describes its start. Returns null if the start is unknown.
 */
export function describeJobTime(
  job: { status: string | null; createdAt: string | null } | null,
  { startedAt, finishedAt }: WorkSpan,
  now: number,
): JobTime | null {
  const start = startedAt ?? parseInstant(job?.createdAt);
  if (job === null || start === null) return null;
  if (job.status === "active" && now - start < DAY_MS) {
    return { text: runningFor(now - start), instant: start };
  }
  if (job.status === "active" && startedAt !== null) {
    return { text: `Running since ${dayAndTime(start)}`, instant: start };
  }
  const hasEnd = isFinished(job) && finishedAt !== null && finishedAt >= start;
  if (hasEnd && finishedAt - start < DAY_MS) {
    const took = duration(finishedAt - start);
    return { text: `Took ${took} · ${moment(finishedAt, now)}`, instant: finishedAt };
  }
  return { text: `Started ${moment(start, now)}`, instant: start };
}

/** Returns how long an active job has been running, in words. */
export function runningFor(milliseconds: number): string {
  return milliseconds < JUST_MS ? "Just started" : `Running for ${duration(milliseconds)}`;
}
