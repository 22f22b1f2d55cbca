import { DAY_MS } from "../shell/durations.ts";
import { dayAndTime, duration, moment } from "../shell/wording.ts";

export interface SpanTime {
  text: string;
  /** The start or end that the words are about, in milliseconds since the epoch. */
  instant: number;
}

/** The start and end of a run. */
export interface WorkSpan {
  startedAt: number | null;
  finishedAt: number | null;
}

/** The state of a run, and when its item was created. */
export interface Run {
  state: "running" | "finished" | "other";
  createdAt: number | null;
}

const JUST_MS = 2_000;

/**
 * Describes how long a run took or has been running. If it took days or its end is unknown,
 * describes its start. Returns null if the start is unknown.
 */
export function describeSpan(
  { state, createdAt }: Run,
  { startedAt, finishedAt }: WorkSpan,
  now: number,
): SpanTime | null {
  const start = startedAt ?? createdAt;
  if (start === null) return null;
  if (state === "running" && now - start < DAY_MS) {
    return { text: runningFor(now - start), instant: start };
  }
  if (state === "running" && startedAt !== null) {
    return { text: `Running since ${dayAndTime(start)}`, instant: start };
  }
  const hasEnd = state === "finished" && finishedAt !== null && finishedAt >= start;
  if (hasEnd && finishedAt - start < DAY_MS) {
    const took = duration(finishedAt - start);
    return { text: `Took ${took} · ${moment(finishedAt, now)}`, instant: finishedAt };
  }
  return { text: `Started ${moment(start, now)}`, instant: start };
}

/** Returns how long a run has been running, in words. */
export function runningFor(milliseconds: number): string {
  return milliseconds < JUST_MS ? "Just started" : `Running for ${duration(milliseconds)}`;
}
