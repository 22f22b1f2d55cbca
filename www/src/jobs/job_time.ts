import { parseInstant } from "quillgate/values";
import { describeSpan, type SpanTime, type WorkSpan } from "../live/time.ts";
import { isFinished } from "./job_state.ts";

/**
 * Describes how long a job ran or has been running. If it took days or its end is unknown,
 * describes its start. Returns null if the start is unknown.
 */
export function describeJobTime(
  job: { status: string | null; createdAt: string | null } | null,
  span: WorkSpan,
  now: number,
): SpanTime | null {
  if (job === null) return null;
  const state = job.status === "active" ? "running" : isFinished(job) ? "finished" : "other";
  return describeSpan({ state, createdAt: parseInstant(job.createdAt) }, span, now);
}
