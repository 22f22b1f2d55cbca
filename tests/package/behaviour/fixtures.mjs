/** What the tests of behaviour share: the installed package, a server for it, and rows of a table. */
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
/** Options of a client that talks to a gateway. */
export const GATEWAY = { adminKey: undefined, token: TOKEN };

export const rows = [];
const unhandled = [];
export let folder;
/** @type {typeof import("quillgate")} */
export let quillgate;

before(async () => {
  folder = await install("behaviour");
  const { resolve } = createRequire(join(folder, "x.cjs"));
  quillgate = await import(pathToFileURL(resolve("quillgate")).href);
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
});

let section;

/** Tests that are a table of their own. */
export function describe(name, define) {
  section = name[0].toUpperCase() + name.slice(1);
  suite(name, define);
}

/** A test that is a row of the table, also when it fails. */
export function when(subject, behaviour, body) {
  const row = { section, subject, behaviour, result: "failed", ran: false };
  rows.push(row);
  test(`${subject}: ${behaviour}`, async (context) => {
    row.ran = true;
    await body(context);
    assert.deepEqual(unhandled.splice(0), [], "no rejection is left to nobody");
    row.result = "as it says";
  });
}

/** Runs a test against another side that answers so; the client talks to it directly. */
export async function against(answer, body, options = {}) {
  const script = typeof answer === "function" ? answer : () => answer;
  const server = await startScriptedServer(script);
  try {
    const base = { baseUrl: server.url, projectId: "acme", adminKey: KEY, logLevel: "off" };
    await body(new quillgate.Client({ ...base, ...options }), server);
  } finally {
    await server.stop();
  }
}

/** Answers one after another; the last one from then on. */
export function inTurn(...answers) {
  return (_, number) => answers[Math.min(number, answers.length - 1)];
}

/**
 * Lets the waits of the client go by at once, and keeps how long each was meant to be.
 * Time limits of under 300 ms or over half a minute stay what they are.
 */
export function hurry(context) {
  const waits = [];
  const { setTimeout } = globalThis;
  const hurried = (run, ms, ...rest) => {
    // The host's own `fetch` sets timers, too.
    const isOurs = new Error().stack.includes("/node_modules/quillgate/");
    const isWait = isOurs && ms >= 300 && ms <= 31_000;
    if (isWait) waits.push(ms);
    return setTimeout(run, isWait ? 0 : ms, ...rest);
  };
  globalThis.setTimeout = hurried;
  context.after(() => {
    globalThis.setTimeout = setTimeout;
  });
  return waits;
}

export async function rejected(call) {
  let result;
  try {
    result = await (typeof call === "function" ? call() : call);
  } catch (reason) {
    return reason;
  }
  assert.fail(`expected a rejection, got ${inspect(result)}`);
}

export function between(number, low, high) {
  assert.ok(number >= low && number <= high, `${number} is not from ${low} to ${high}`);
}

/** A page of a list that has this many rows in all. */
export function pageOf(total) {
  return ({ path }) => {
    const query = new URL(path, "http://x").searchParams;
    const [offset, limit] = ["offset", "limit"].map((name) => Number(query.get(name)));
    const count = Math.max(0, Math.min(limit, total - offset));
    const views = Array.from({ length: count }, (_, at) => ({ path: `/${offset + at}`, human: 1 }));
    return { json: { totals: { human: total }, views, hasMore: offset + count < total } };
  };
}
