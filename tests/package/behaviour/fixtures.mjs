/** Fixtures of the behaviour tests and the rows of docs/reference/behaviour.md. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, describe as suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { canaryKey } from "../../harness/canary.mjs";
import { install } from "../installed.mjs";
import { startScriptedServer } from "../scripted_server.mjs";

export const KEY = canaryKey();
export const TOKEN = "eyJhbGciOiJIUzI1NiJ9.not-to-be-shown.anywhere";
export const JOB = { id: "j1", status: "active" };
export const GATEWAY = { auth: { token: TOKEN } };

/** Between these bounds, a timer of the package is a wait between requests and not a time limit. */
const MIN_WAIT_MS = 300;
const MAX_WAIT_MS = 31_000;

export const rows = [];
const unhandled = [];
export let folder;
export let quillgate;

before(async () => {
  folder = await install("behaviour");
  const { resolve } = createRequire(join(folder, "x.cjs"));
  quillgate = await import(pathToFileURL(resolve("quillgate")).href);
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
});

let section;

export function describe(name, define) {
  section = name;
  suite(name, define);
}

export function when(subject, behaviour, body) {
  const row = { section, subject, behaviour, result: "fails", ran: false };
  rows.push(row);
  test(`when ${subject}, ${behaviour}`, async (context) => {
    row.ran = true;
    await body(context);
    assert.deepEqual(unhandled.splice(0), [], "unhandled rejections");
    row.result = "passes";
  });
}

export async function against(script, body, options = {}) {
  const respond = typeof script === "function" ? script : () => script;
  const server = await startScriptedServer(respond);
  try {
    const base = {
      baseUrl: server.url,
      projectId: "acme",
      auth: { adminKey: KEY },
      logLevel: "off",
    };
    await body(new quillgate.Client({ ...base, ...options }), server);
  } finally {
    await server.stop();
  }
}

export function inTurn(...responses) {
  return (_, number) => responses[Math.min(number, responses.length - 1)];
}

export function skipWaits(context) {
  const waits = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...rest) => {
    // Node's own `fetch` also sets timers.
    const isOurs = new Error().stack.includes("/node_modules/quillgate/");
    const isWait = isOurs && ms >= MIN_WAIT_MS && ms <= MAX_WAIT_MS;
    if (isWait) waits.push(ms);
    return setTimeout(run, isWait ? 0 : ms, ...rest);
  };
  context.after(() => {
    globalThis.setTimeout = setTimeout;
  });
  return waits;
}

export async function rejectionOf(call) {
  let result;
  try {
    result = await (typeof call === "function" ? call() : call);
  } catch (reason) {
    return reason;
  }
  assert.fail(`expected a rejection, got ${inspect(result)}`);
}

export function assertBetween(number, low, high) {
  assert.ok(number >= low && number <= high, `${number} is not from ${low} to ${high}`);
}

export function pageOf(total) {
  return ({ path }) => {
    const query = new URL(path, "http://x").searchParams;
    const [offset, limit] = ["offset", "limit"].map((name) => Number(query.get(name)));
    const count = Math.max(0, Math.min(limit, total - offset));
    const views = Array.from({ length: count }, (_, at) => ({ path: `/${offset + at}`, human: 1 }));
    return { json: { totals: { human: total }, views, hasMore: offset + count < total } };
  };
}

export function nextTurn() {
  return new Promise((resolve) => setImmediate(resolve));
}
