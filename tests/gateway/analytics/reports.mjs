import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach } from "node:test";
import { caller } from "../analytics_requests.mjs";
import { PROJECT, startGate } from "../recorded_gateway.mjs";

export const READ = "analytics:read";
export const CONVERSATIONS = "analytics:conversations";
export const BOTH = { scope: `${READ} ${CONVERSATIONS}` };

/** The reports by name. */
export const REPORTS = {
  views: { path: "views", rows: "views", by: "offset", most: 250, scope: READ },
  visitors: { path: "visitors", rows: "visitors", by: "offset", most: 250, scope: READ },
  feedback: { path: "feedback", rows: "feedback", by: "cursor", most: 100, scope: READ },
  feedbackByPage: { path: "feedback/by-page", rows: "feedback", most: 100, scope: READ },
  searches: { path: "searches", rows: "searches", by: "cursor", most: 100, scope: READ },
  conversations: {
    path: "assistant",
    rows: "conversations",
    by: "cursor",
    most: 1000,
    scope: CONVERSATIONS,
  },
  conversation: { path: "assistant/threads", scope: CONVERSATIONS },
  callerStats: { path: "assistant/caller-stats", scope: READ },
};
export const NAMES = Object.keys(REPORTS);
export const LISTS = NAMES.filter((name) => REPORTS[name].by);
export const PERSONAL = ["conversations", "conversation"];

export const MISS = "fwd=uri-miss; stored";
export const HIT = "hit; ttl=+";

export const DAY_MS = 86_400_000;
export const day = (number) =>
  new Date(Date.UTC(2015, 1, 1) + number * DAY_MS).toISOString().slice(0, 10);

let ranges = 0;

/** Returns a past range of 60 days that no test has requested yet. */
export function newRange() {
  ranges += 1;
  return { dateFrom: day(ranges), dateTo: day(ranges + 60) };
}

/** Ids of conversations at the simulator. {@link newTarget} removes each id that it uses. */
export let turns;

export const targetOf = (name, query = {}) =>
  `/v1/analytics/${PROJECT}/${REPORTS[name].path}?${new URLSearchParams(query)}`;

export const threadTarget = (id) => `/v1/analytics/${PROJECT}/assistant/threads/${id}`;

/** Returns a target of the report `name` that no test has requested yet. */
export function newTarget(name, range = newRange) {
  return name === "conversation" ? threadTarget(turns.pop()) : targetOf(name, range());
}

/** Options of the simulator. They provide several pages of each list, and a high rate limit. */
export const UPSTREAM = { pages: 610, analyticsLimit: 1e6 };

export let gate;
export let state;
export let reader;

export function useReports(name) {
  before(async () => {
    state = mkdtempSync(join(tmpdir(), "quillgate-reports-"));
    const vars = { ANALYTICS_LIMIT_PER_HOUR: "100000" };
    gate = await startGate(name, { upstream: UPSTREAM, gateway: { state, vars } });
    reader = caller(gate, "rita", BOTH);
    const range = { dateFrom: "2020-01-01", dateTo: "2020-03-01" };
    const { conversations } = await gate.upstream.report({ report: "assistant", ...range });
    turns = [...new Set(conversations.map(({ id }) => id))];
  });
  after(async () => {
    await gate?.stop();
    rmSync(state, { recursive: true, force: true, maxRetries: 5 });
  });
  beforeEach(() => gate.upstream.reset());
}

/** Returns the result of `run`. Asserts that `run` causes exactly `requests` upstream requests. */
export async function costing(requests, run) {
  const before = await gate.received();
  const result = await run();
  assert.equal((await gate.received()) - before, requests, "requests upstream");
  return result;
}
