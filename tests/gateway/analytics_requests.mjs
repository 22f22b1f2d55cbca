/** Helpers for analytics tests: requests, cache checks, budget counts and a result table. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ROOT } from "../../scripts/versions.mjs";
import { PROJECT } from "./recorded_gateway.mjs";

const DAY_MS = 86_400_000;
const WORKER = join(ROOT, "worker");

const CHECK_INTERVAL_MS = 25;

/** Fails the test that waits, instead of the whole file. */
const PATIENCE_MS = 60_000;

/** Rows per upstream page: Mintlify's maximum. */
export const PAGE_ROWS = 250;

export const NO_CACHE = [["Cache-Control", "no-cache"]];

// --- requests --------------------------------------------------------------

/** The target of a page-view request: `{ project?, dateFrom?, dateTo?, limit?, offset? }`. */
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

/** The `authorization` of another caller, with optional claims: `{ quota?, projects?, … }`. */
export function caller(gate, sub, claims = {}) {
  return { authorization: `Bearer ${gate.token({ sub, ...claims })}` };
}

/** A caller with a quota of 0: it can read cached pages, but never causes an upstream request. */
export function moneyless(gate) {
  return caller(gate, "moneyless", { quota: { analytics: 0 } });
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

/** The simulator's own response, without the gateway. */
export async function upstreamsOwn(gate, target) {
  const authorization = `Bearer ${gate.key}`;
  const response = await fetch(gate.upstream.url + target, { headers: { authorization } });
  assert.equal(response.status, 200, target);
  return await response.json();
}

/** The organization's section of the operator's health report. */
export async function organisation(gate) {
  const operator = { projects: [], scope: "gateway:operate" };
  const answer = await gate.get("/healthz?deep", caller(gate, "operator", operator));
  assert.equal(answer.status, 200, answer.text);
  return answer.json.organisation;
}

/** The analytics budget: requests left, and when an upstream block ends. */
export async function budget(gate) {
  return (await organisation(gate)).budgets.analytics;
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
  return until(async () => cacheOf(await gate.get(target, moneyless(gate))) === stale);
}

/** Waits until the block that an upstream 429 has caused ends. */
export function untilOpen(gate) {
  return until(async () => (await budget(gate)).closedUntil === null);
}

// --- an instrumented Worker ------------------------------------------------

/**
 * A configuration of the same Worker with an instrumented organization object. The object counts
 * its calls, and {@link setGateFailing} makes them fail. `dispose` removes the configuration.
 */
export function watchedConfig() {
  const folder = mkdtempSync(join(tmpdir(), "quillgate-watched-"));
  const main = join(folder, "watched.js");
  writeFileSync(main, watchedWorker(join(WORKER, "build", "index.js")));
  const toml = readFileSync(join(WORKER, "wrangler.toml"), "utf8");
  const config = join(folder, "wrangler.toml");
  const own = toml
    .replace('"build/index.js"', () => JSON.stringify(main))
    .replace('"../www/dist"', () => JSON.stringify(join(WORKER, "..", "www", "dist")));
  assert.notEqual(own, toml);
  writeFileSync(config, own);
  return { config, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}

function watchedWorker(built) {
  return `
    import worker, { OrgGate as Gate, ProjectGate, Session } from ${JSON.stringify(built)};
    let calls = 0;
    let failing = false;
    export { ProjectGate, Session };
    export class OrgGate extends Gate {
      report(call) {
        calls += 1;
        if (failing) throw new Error("unreachable");
        return super.report(call);
      }
    }
    export default {
      fetch(request, env, context) {
        const { pathname, searchParams } = new URL(request.url);
        if (pathname !== "/v1/watched") return worker.fetch(request, env, context);
        if (searchParams.has("failing")) failing = searchParams.get("failing") === "yes";
        return Response.json({ calls });
      },
    };
  `;
}

/** The number of page-view calls to the organization object. */
export async function gateCalls(gate) {
  return (await watched(gate, "")).calls;
}

/** Makes calls to the organization object fail (`yes`) or succeed again (`no`). */
export async function setGateFailing(gate, failing) {
  await watched(gate, `?failing=${failing}`);
}

function watched(gate, query) {
  return until(async () => {
    const answer = await gate.get(`/v1/watched${query}`, { authorization: null });
    return answer.status === 200 && answer.json;
  });
}

// --- a table ---------------------------------------------------------------

/** A table of strings by row and column. */
export class Matrix {
  #columns;
  #rows = new Map();

  constructor(columns) {
    this.#columns = columns;
  }

  note(row, column, value) {
    if (!this.#rows.has(row)) this.#rows.set(row, new Map());
    this.#rows.get(row).set(column, value);
  }

  /** The table as lines of equal width. */
  lines() {
    const rows = [...this.#rows].map(([row, cells]) => [
      row,
      ...this.#columns.map((column) => cells.get(column) ?? "-"),
    ]);
    const table = [["", ...this.#columns], ...rows];
    const widths = table[0].map((_, at) => Math.max(...table.map((cells) => cells[at].length)));
    const line = (cells) => cells.map((cell, at) => cell.padEnd(widths[at])).join(" | ");
    const rule = widths.map((width) => "-".repeat(width)).join("-|-");
    return [line(table[0]), rule, ...rows.map(line)];
  }
}
