import { beforeEach } from "node:test";
import { PROJECT, useGate } from "../recorded_gateway.mjs";

export const OTHER = "other-docs";
export const EMPTY = "empty-docs";
export const LIMIT = { ANALYTICS_LIMIT_PER_HOUR: "100000" };

export const MISS = "fwd=uri-miss; stored";
export const HIT = "hit; ttl=+";
export const REFETCHED = "fwd=request; stored";

/** Runs a gateway whose simulator is reset before each test. */
export function useCache(name, options) {
  const gate = useGate(name, {
    upstream: { projects: [PROJECT, OTHER, EMPTY], pages: 4000 },
    ...options,
  });
  beforeEach(() => unlimited(gate));
  return gate;
}

/** Resets the simulator and removes its limit on analytics. */
export async function unlimited({ upstream }) {
  await upstream.reset();
  await upstream.setLimits({ analytics: null });
}

export const headersOf = (name, value) => ({ headers: [[name, value]] });
export const ifNoneMatch = (value) => headersOf("If-None-Match", value);
