/** Page views through the gateway: how they are asked for and told apart, and a table of cells. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PROJECT } from "./gate.mjs";

const DAY_MS = 86_400_000;
const WORKER = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "worker");

/** Between two looks at something that only time changes. */
const LOOK_MS = 25;

/** How long is looked for something that has to come, so that its absence fails its own test. */
const LOOKING_MS = 60_000;

/** The rows of a page upstream: the most that the platform gives. */
export const PAGE_ROWS = 250;

export const NO_CACHE = [["Cache-Control", "no-cache"]];

// --- questions -------------------------------------------------------------

/** The path and query of a question: `{ project?, dateFrom?, dateTo?, limit?, offset? }`. */
export function viewsOf({ project = PROJECT, ...query }) {
  return `/v1/analytics/${project}/views?${new URLSearchParams(query)}`;
}

let ranges = 0;

/** A range that nobody has asked for before, and which is over. */
export function closedRange() {
  ranges += 1;
  return { dateFrom: dateOf(Date.UTC(2000, 0, ranges)), dateTo: "2024-01-01" };
}

/** A range that nobody has asked for before, and which goes on. */
export function openRange() {
  return { ...closedRange(), dateTo: "2100-01-01" };
}

/** The UTC day that is so many days after today. */
export function dayFromToday(days) {
  return dateOf(Date.now() + days * DAY_MS);
}

function dateOf(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The `authorization` of somebody else, with any further claims: `{ quota?, projects?, … }`. */
export function caller(gate, sub, claims = {}) {
  return { authorization: `Bearer ${gate.token({ sub, ...claims })}` };
}

/** Who may have what is kept, and can never have anything asked for upstream. */
export function moneyless(gate) {
  return caller(gate, "moneyless", { quota: { analytics: 0 } });
}

// --- answers ---------------------------------------------------------------

/** `Cache-Status` without the cache's name; numbers of `ttl` become their sign. */
export function cacheOf(answer) {
  const [, cache] = /^quillgate; (.*)$/.exec(answer.header("cache-status")) ?? [];
  return cache?.replace(/ttl=(-?)\d+/, (_, minus) => `ttl=${minus || "+"}`);
}

/** Checks a success, and how it was come by; gives its page. */
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

/** How many answers there are of each `Cache-Status`. */
export function tally(answers) {
  const counts = {};
  for (const answer of answers) {
    const cache = cacheOf(answer);
    counts[cache] = (counts[cache] ?? 0) + 1;
  }
  return counts;
}

/** Sends many requests at once; each is `{ answer, until, leave }`. */
export function openAll(gate, count, target, options = {}) {
  const authorization = options.authorization ?? `Bearer ${gate.token()}`;
  const bytes = gate.bytes({ target, authorization, headers: options.headers });
  return Array.from({ length: count }, () => gate.open(bytes));
}

/** Reads the whole answers of all. */
export function readAll(exchanges) {
  const read = async (exchange) => {
    const answer = await exchange.until(({ complete }) => complete);
    exchange.leave();
    return answer;
  };
  return Promise.all(exchanges.map(read));
}

// --- the judge -------------------------------------------------------------

/** What the simulator itself answers. */
export async function upstreamsOwn(gate, target) {
  const authorization = `Bearer ${gate.key}`;
  const response = await fetch(gate.upstream.url + target, { headers: { authorization } });
  assert.equal(response.status, 200, target);
  return await response.json();
}

/** What the organisation's gate tells an operator. */
export async function organisation(gate) {
  const operator = { projects: [], scope: "gateway:operate" };
  const answer = await gate.get("/healthz?deep", caller(gate, "operator", operator));
  assert.equal(answer.status, 200, answer.text);
  return answer.json.organisation;
}

/** How much of the organisation's budget is left, and until when upstream refuses. */
export async function budget(gate) {
  return (await organisation(gate)).budgets.analytics;
}

/** What `run` gives, how many requests came upstream meanwhile, and what of the budget it took. */
export async function costOf(gate, run) {
  const [visited, { left }] = [await gate.received(), await budget(gate)];
  const result = await run();
  const visits = (await gate.received()) - visited;
  return { result, visits, units: left - (await budget(gate)).left };
}

/** Looks again and again until `look` gives something, but not for ever. */
export async function until(look) {
  const deadline = performance.now() + LOOKING_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(performance.now() < deadline, `nothing after ${LOOKING_MS} ms: ${look}`);
    await pause(LOOK_MS);
  }
}

/** Waits until what is kept of a page is no longer fresh, which costs nothing. */
export function untilStale(gate, target) {
  const stale = "hit; ttl=-; detail=quota-exceeded";
  return until(async () => cacheOf(await gate.get(target, moneyless(gate))) === stale);
}

/** Waits until a 429 of the upstream is over. */
export function untilOpen(gate) {
  return until(async () => (await budget(gate)).closedUntil === null);
}

// --- a gate that can be watched --------------------------------------------

/**
 * A configuration of the same Worker, whose Durable Object counts the calls that come to it, and
 * fails when it is told to. `dispose` removes it.
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
        if (failing) throw new Error("out of reach");
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

/** How often the organisation's gate was called for page views. */
export async function gateCalls(gate) {
  return (await watched(gate, "")).calls;
}

/** Puts the organisation's gate out of reach, or back: `yes` or `no`. */
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

/** Cells by row and column, and how they look. */
export class Matrix {
  #columns;
  #rows = new Map();

  constructor(columns) {
    this.#columns = columns;
  }

  note(row, column, text) {
    if (!this.#rows.has(row)) this.#rows.set(row, new Map());
    this.#rows.get(row).set(column, text);
  }

  /** The table's lines, each column as wide as its widest cell. */
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
