import { dayAndTime, duration, moment } from "../shell/wording.ts";
import { isFinished } from "./job_state.ts";
import type { WorkSpan } from "./timeline.ts";

/** A job's time in words, and the rest of what is known of it. */
export interface JobTime {
  text: string;
  /** The moment that is meant, in milliseconds since 1970. */
  instant: number;
}

const DAY_MS = 86_400_000;

/** How long a job has been at work or took; its date after days, or where that is not known. */
export function describeJobTime(
  job: { status: string | null; createdAt: string | null } | null,
  { startedAt, finishedAt }: WorkSpan,
  now: number,
): JobTime | null {
  const created = Date.parse(job?.createdAt ?? "");
  const start = startedAt ?? (Number.isNaN(created) ? null : created);
  if (job === null || start === null) return null;
  if (job.status === "active" && now - start < DAY_MS) {
    return { text: `for ${duration(now - start)}`, instant: start };
  }
  if (job.status === "active" && startedAt !== null) {
    return { text: `since ${dayAndTime(start)}`, instant: start };
  }
  const isOver = isFinished(job) && finishedAt !== null && finishedAt >= start;
  if (isOver && finishedAt - start < DAY_MS) {
    const took = duration(finishedAt - start);
    return { text: `took ${took}, ${moment(finishedAt, now)}`, instant: finishedAt };
  }
  return { text: `started ${moment(start, now)}`, instant: start };
}
