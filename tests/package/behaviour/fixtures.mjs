/** Fixtures of the behaviour tests and the rows of docs/reference/behaviour.md. */
import assert from "node:assert/strict";
import { before, describe as suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { canaryKey } from "../../harness/canary.mjs";
import { install, requireIn } from "../installed.mjs";
import { startScriptedServer } from "../scripted_server.mjs";

export const KEY = canaryKey();
export const TOKEN = "eyJhbGciOiJIUzI1NiJ9.not-to-be-shown.anywhere";
export const JOB = { id: "j1", status: "active" };

/** Between these bounds, a timer of the package is a wait between requests and not a time limit. */
const MIN_WAIT_MS = 300;
const MAX_WAIT_MS = 31_000;

export const rows = [];
export const unhandled = [];
export let folder;
export let quillgate;

before(async () => {
  folder = await install("behaviour");
  quillgate = await importFrom(folder);
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
});

/** Imports the package that is installed in a folder. */
export function importFrom(folder) {
  return import(pathToFileURL(requireIn(folder).resolve("quillgate")).href);
}

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
    const base = { baseUrl: server.url, projectId: "acme", logLevel: "off" };
    await body(new quillgate.Client({ ...base, auth: { adminKey: KEY }, ...options }), server);
  } finally {
    await server.stop();
  }
}

/** Like {@link against}, for a client with an access token of a gateway. */
export function againstGateway(script, body, options = {}) {
  return against(script, body, { auth: { token: TOKEN }, ...options });
}

export function inTurn(...responses) {
  return (_, number) => responses[Math.min(number, responses.length - 1)];
}

export function skipWaits(context) {
  const waits = [];
  const { setTimeout } = globalThis;
  context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
    // Node's own `fetch` also sets timers.
    const isOurs = new Error().stack.includes("/node_modules/quillgate/");
    const isWait = isOurs && ms >= MIN_WAIT_MS && ms <= MAX_WAIT_MS;
    if (isWait) waits.push(ms);
    return setTimeout(run, isWait ? 0 : ms, ...rest);
  });
  return waits;
}

/** Returns the reason with which a call rejects. It is of the package's class, if that is given. */
export async function rejectionOf(call, className) {
  let result;
  try {
    result = await (typeof call === "function" ? call() : call);
  } catch (reason) {
    const isExpected = className === undefined || reason instanceof quillgate[className];
    assert.ok(isExpected, `${call}: ${inspect(reason)}`);
    return reason;
  }
  assert.fail(`expected a rejection, got ${inspect(result)}`);
}

export async function assertInvalid(call, field, rule) {
  const error = await rejectionOf(call, "ValidationError");
  assert.deepEqual([error.field, error.rule], [field, rule]);
  return error;
}

export function assertBetween(number, low, high) {
  assert.ok(number >= low && number <= high, `${number} is not from ${low} to ${high}`);
}

export function nextTurn() {
  return new Promise((resolve) => setImmediate(resolve));
}
