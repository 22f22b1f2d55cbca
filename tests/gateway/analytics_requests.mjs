import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { PROJECT } from "./recorded_gateway.mjs";

const CHECK_INTERVAL_MS = 25;

const PATIENCE_MS = 60_000;

/** Rows per upstream page: Mintlify's maximum. */
export const PAGE_ROWS = 250;

export const NO_CACHE = [["Cache-Control", "no-cache"]];

/** Returns the target of a request for page views. */
export function viewsOf({ project = PROJECT, ...query }) {
  return `/v1/analytics/${project}/views?${new URLSearchParams(query)}`;
}

let ranges = 0;

/** Returns a past date range that no test has requested yet. */
export function closedRange() {
  ranges += 1;
  return { dateFrom: dateOf(Date.UTC(2000, 0, ranges)), dateTo: "2024-01-01" };
}

/** Returns a date range that ends in the future. No test has requested this range yet. */
export function openRange() {
  return { ...closedRange(), dateTo: "2100-01-01" };
}

function dateOf(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

export function caller(gate, sub, claims = {}) {
  return { authorization: `Bearer ${gate.token({ sub, ...claims })}` };
}

/** Returns the request options of a caller with a quota of 0. */
export function withoutQuota(gate) {
  return caller(gate, "withoutQuota", { quota: { analytics: 0 } });
}

/** Returns a response's `Cache-Status` without the name of the cache. Reduces `ttl` to its sign. */
export function cacheOf(answer) {
  const [, cache] = /^quillgate; (.*)$/.exec(answer.header("cache-status")) ?? [];
  return cache?.replace(/ttl=(-?)\d+/, (_, minus) => `ttl=${minus || "+"}`);
}

/** Asserts a complete 200 response whose `Cache-Status` is `cache`. Returns the parsed body. */
export function assertViews(answer, cache) {
  assert.deepEqual([answer.status, answer.complete], [200, true], answer.text);
  assert.equal(cacheOf(answer), cache);
  assert.equal(answer.header("content-type"), "application/json");
  assert.equal(answer.header("x-content-type-options"), "nosniff");
  assert.equal(answer.header("vary"), "Origin, Authorization");
  assert.match(answer.header("age"), /^\d+$/);
  assert.match(answer.header("etag"), /^"[\w-]{22}[\w.+-]*"$/);
  return answer.json;
}

/** Returns the number of responses for each `Cache-Status`. */
export function tally(answers) {
  const counts = {};
  for (const answer of answers) {
    const cache = cacheOf(answer);
    counts[cache] = (counts[cache] ?? 0) + 1;
  }
  return counts;
}

/** Sends `count` requests concurrently. Returns the exchanges without waiting for responses. */
export function openAll(gate, count, target, options = {}) {
  const authorization = options.authorization ?? `Bearer ${gate.token()}`;
  const bytes = gate.bytes({ target, authorization, headers: options.headers });
  return Array.from({ length: count }, () => gate.open(bytes));
}

export function readAll(exchanges) {
  const read = async (exchange) => {
    const answer = await exchange.until(({ complete }) => complete);
    exchange.leave();
    return answer;
  };
  return Promise.all(exchanges.map(read));
}

/** Sends a request directly to the simulator. Returns the parsed body of the response. */
export async function upstreamsOwn(gate, target) {
  const url = new URL(target, gate.upstream.url);
  const cursor = url.searchParams.get("cursor");
  // The simulator rejects a URL as a cursor. The gateway and the clients send the cursor in it.
  if (URL.canParse(cursor)) {
    url.searchParams.set("cursor", new URL(cursor).searchParams.get("cursor"));
  }
  const authorization = `Bearer ${gate.key}`;
  const response = await fetch(url, { headers: { authorization } });
  assert.equal(response.status, 200, target);
  return await response.json();
}

/** Returns the organization's section of the health report, which operators can read. */
export async function organization(gate) {
  const operator = { projects: [], scope: "gateway:operate" };
  return (await gate.read("/healthz?deep", caller(gate, "operator", operator))).organization;
}

export async function budget(gate) {
  return (await organization(gate)).budgets.analytics;
}

/** Returns the result of `run`. Asserts that it sends and charges this number of requests. */
export async function costing(gate, requests, run) {
  const [visited, { left }] = [await gate.received(), await budget(gate)];
  const result = await run();
  const visits = (await gate.received()) - visited;
  const units = left - (await budget(gate)).left;
  assert.deepEqual({ visits, units }, { visits: requests, units: requests });
  return result;
}

export async function until(check) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await check();
    if (found) return found;
    assert.ok(performance.now() < deadline, `nothing after ${PATIENCE_MS} ms: ${check}`);
    await pause(CHECK_INTERVAL_MS);
  }
}

/** Waits until the cached page of `target` is stale. Causes no upstream request. */
export function untilStale(gate, target) {
  const stale = "hit; ttl=-; detail=quota-exceeded";
  return until(async () => cacheOf(await gate.get(target, withoutQuota(gate))) === stale);
}

export function untilOpen(gate) {
  return until(async () => (await budget(gate)).blockedUntil === null);
}
