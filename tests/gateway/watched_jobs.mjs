import assert from "node:assert/strict";
import { CLOCK_RATE, isNow, useJobs } from "./jobs_gateway.mjs";

export const INTERVAL_MS = 1000;
/** Tolerance for clock differences and a request's latency, by the gateway's clock. */
export const CLOCK_TOLERANCE_MS = 50 * CLOCK_RATE;

export let jobs;

export function useWatched(name, options) {
  jobs = useJobs(name, options);
}

export const idsAndData = (stream) =>
  stream.events.map(({ lastEventId, data }) => [lastEventId, data]);
export const states = (stream) => stream.events.map(({ data }) => JSON.parse(data).status);

export async function change(id, fields, streams) {
  await jobs.upstream.setJob(id, fields);
  await Promise.all(streams.map((stream) => stream.event(isNow(fields.status))));
}

export function assertApart({ at }, interval = INTERVAL_MS) {
  const gaps = at.slice(1).map((moment, index) => moment - at[index]);
  for (const gap of gaps) assert.ok(gap >= interval - CLOCK_TOLERANCE_MS, `read after ${gap} ms`);
}

export function manyWatching(count, id, options) {
  return Promise.all(Array.from({ length: count }, () => jobs.watching(id, options)));
}

export function assertGrowing(stream) {
  const ids = stream.events.map(({ lastEventId }) => Number(lastEventId));
  const grow = ids.every((id, index) => index === 0 || id > ids[index - 1]);
  assert.ok(grow, `ids ${ids}`);
}
