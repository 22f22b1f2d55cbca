import assert from "node:assert/strict";
import { CLOCK_RATE } from "./jobs_gateway.mjs";

export const INTERVAL_MS = 1000;
/** Tolerance for clock differences and a request's latency, by the gateway's clock. */
export const CLOCK_TOLERANCE_MS = 50 * CLOCK_RATE;

export const states = (stream) => stream.events.map(({ data }) => JSON.parse(data).status);

export function assertApart({ at }) {
  const gaps = at.slice(1).map((moment, index) => moment - at[index]);
  for (const gap of gaps)
    assert.ok(gap >= INTERVAL_MS - CLOCK_TOLERANCE_MS, `read after ${gap} ms`);
}
