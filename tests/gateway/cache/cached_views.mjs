import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach } from "node:test";
import { PROJECT, startGate } from "../recorded_gateway.mjs";

export const OTHER = "other-docs";
export const EMPTY = "empty-docs";
export const ROWS = 4000;
export const LIMIT = { ANALYTICS_LIMIT_PER_HOUR: "100000" };
export const UPSTREAM = { projects: [PROJECT, OTHER, EMPTY], pages: ROWS };

export const MISS = "fwd=uri-miss; stored";
export const HIT = "hit; ttl=+";
export const REFETCHED = "fwd=request; stored";

export let gate;
export let state;

export function useGate(name) {
  before(async () => {
    state = mkdtempSync(join(tmpdir(), "quillgate-cache-"));
    gate = await startGate(name, { upstream: UPSTREAM, gateway: { state, vars: LIMIT } });
  });
  after(async () => {
    await gate?.stop();
    rmSync(state, { recursive: true, force: true, maxRetries: 5 });
  });
  beforeEach(() => unlimited(gate));
}

/** Resets the simulator and removes its limit on analytics. */
export async function unlimited({ upstream }) {
  await upstream.reset();
  await upstream.setLimits({ analytics: null });
}

export const headersOf = (name, value) => ({ headers: [[name, value]] });
export const ifNoneMatch = (value) => headersOf("If-None-Match", value);
