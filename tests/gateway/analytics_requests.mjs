/**
 * Sends analytics requests, and checks the `Cache-Status` of the responses and the number of
 * upstream requests.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { PROJECT } from "./recorded_gateway.mjs";

const DAY_MS = 86_400_000;
const CHECK_INTERVAL_MS = 25;

/**
 * How long a test waits for a condition before it fails. Without this limit, the runner would end
 * the whole file.
 */
const PATIENCE_MS = 60_000;

/** Rows per upstream page: Mintlify's maximum. */
export const PAGE_ROWS = 250;

export const NO_CACHE = [["Cache-Control", "no-cache"]];

// --- requests --------------------------------------------------------------

/**
 * The target of a request for page views. Each of `project`, `dateFrom`, `dateTo`, `limit` and
 * `offset` is optional.
 */
export function viewsOf({ project = PROJECT, ...query }) {
  return `/v1/analytics/${project}/views?${new URLSearchParams(query)}`;
}

let ranges = 0;

/** A past date range that no test has requested yet. */
export function closedRange() {
  ranges += 1;
  return { dateFrom: dateOf(Date.UTC(2000, 0, ranges)), dateTo: "2024-01-01" };
}

/** A date range that ends in the future and that no test has requested yet. */
export function openRange() {
  return { ...closedRange(), dateTo: "2100-01-01" };
}

/** The UTC date `days` days after today. */
export function dayFromToday(days) {
  return dateOf(Date.now() + days * DAY_MS);
}

function dateOf(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/**
 * The `authorization` of a caller with this subject and these claims: `{ quota?, projects?, … }`.
 */
export function caller(gate, sub, claims = {}) {
  return { authorization: `Bearer ${gate.token({ sub, ...claims })}` };
}

/** A caller with a quota of 0: it can read cached pages, but never causes an upstream request. */
export function withoutQuota(gate) {
  return caller(gate, "withoutQuota", { quota: { analytics: 0 } });
}

// --- responses -------------------------------------------------------------

/** `Cache-Status` without the cache's name, and with each `ttl` reduced to its sign. */
export function cacheOf(answer) {
  const [, cache] = /^quillgate; (.*)$/.exec(answer.header("cache-status")) ?? [];
  return cache?.replace(/ttl=(-?)\d+/, (_, minus) => `ttl=${minus || "+"}`);
}

/** Checks a 200 response and its `Cache-Status`. Returns the page. */
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

/** Counts responses by `Cache-Status`. */
export function tally(answers) {
  const counts = {};
  for (const answer of answers) {
    const cache = cacheOf(answer);
    counts[cache] = (counts[cache] ?? 0) + 1;
  }
  return counts;
}

/** Sends `count` requests concurrently, without waiting for the responses. */
export function openAll(gate, count, target, options = {}) {
  const authorization = options.authorization ?? `Bearer ${gate.token()}`;
  const bytes = gate.bytes({ target, authorization, headers: options.headers });
  return Array.from({ length: count }, () => gate.open(bytes));
}

/** Reads all responses to their end. */
export function readAll(exchanges) {
  const read = async (exchange) => {
    const answer = await exchange.until(({ complete }) => complete);
    exchange.leave();
    return answer;
  };
  return Promise.all(exchanges.map(read));
}

// --- the simulator and the budget ------------------------------------------

/** Sends a request directly to the simulator. Returns the body of its response. */
export async function upstreamsOwn(gate, target) {
  const authorization = `Bearer ${gate.key}`;
  const response = await fetch(gate.upstream.url + target, { headers: { authorization } });
  assert.equal(response.status, 200, target);
  return await response.json();
}

/** The organization's section of the operator's health report. */
export async function organization(gate) {
  const operator = { projects: [], scope: "gateway:operate" };
  const answer = await gate.get("/healthz?deep", caller(gate, "operator", operator));
  assert.equal(answer.status, 200, answer.text);
  return answer.json.organization;
}

/** The analytics budget: requests left, and when an upstream block ends. */
export async function budget(gate) {
  return (await organization(gate)).budgets.analytics;
}

/** Runs `run` and returns its result, the upstream requests it caused, and the budget it used. */
export async function costOf(gate, run) {
  const [visited, { left }] = [await gate.received(), await budget(gate)];
  const result = await run();
  const visits = (await gate.received()) - visited;
  return { result, visits, units: left - (await budget(gate)).left };
}

/** Calls `check` until it returns something truthy. Fails after {@link PATIENCE_MS}. */
export async function until(check) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await check();
    if (found) return found;
    assert.ok(performance.now() < deadline, `nothing after ${PATIENCE_MS} ms: ${check}`);
    await pause(CHECK_INTERVAL_MS);
  }
}

/** Waits until the cached page is stale, without upstream requests. */
export function untilStale(gate, target) {
  const stale = "hit; ttl=-; detail=quota-exceeded";
  return until(async () => cacheOf(await gate.get(target, withoutQuota(gate))) === stale);
}

/** Waits until the block that an upstream 429 has caused ends. */
export function untilOpen(gate) {
  return until(async () => (await budget(gate)).closedUntil === null);
}
