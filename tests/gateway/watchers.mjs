/** What the tests of streams and long polls share: a gateway's jobs, and what watchers were told. */
import assert from "node:assert/strict";
import { startJobs } from "./jobs.mjs";

export const INTERVAL_MS = 1000;
/** Two programs' clocks, both in whole milliseconds, and the way of a request between them. */
export const CLOCK_TOLERANCE_MS = 50;
/** What nobody has to wait for in vain on a busy machine. */
export const PATIENCE_MS = 60_000;

/** The jobs of the file's gateway. */
export let jobs;

/** Starts the file's gateway. */
export async function startWatched(name) {
  jobs = await startJobs(name);
}

export const told = (stream) => stream.events.map(({ lastEventId, data }) => [lastEventId, data]);
export const states = (stream) => stream.events.map(({ data }) => JSON.parse(data).status);
export const isNow = (status) => (event) => JSON.parse(event.data).status === status;

/** Moves a job into a state, and waits until all of these watchers were told. */
export async function change(id, fields, streams) {
  await jobs.upstream.setJob(id, fields);
  await Promise.all(streams.map((stream) => stream.event(isNow(fields.status), PATIENCE_MS)));
}

/** Consecutive reads of a job were at least so far apart. */
export function assertApart({ at }, interval = INTERVAL_MS) {
  const gaps = at.slice(1).map((moment, index) => moment - at[index]);
  for (const gap of gaps) assert.ok(gap >= interval - CLOCK_TOLERANCE_MS, `read after ${gap} ms`);
}

/** So many streams of a job, each of which has been told the job as it is. */
export function manyWatching(count, id, options) {
  return Promise.all(Array.from({ length: count }, () => jobs.watching(id, options)));
}

export function assertGrowing(stream) {
  const ids = stream.events.map(({ lastEventId }) => Number(lastEventId));
  const grow = ids.every((id, index) => index === 0 || id > ids[index - 1]);
  assert.ok(grow, `ids ${ids}`);
}

/** The job as the platform has it, without what the simulator's control adds. */
export async function platformJob(id) {
  const { projectId, prompt, messages, origin, reads, ...job } = await jobs.upstream.job(id);
  return job;
}
