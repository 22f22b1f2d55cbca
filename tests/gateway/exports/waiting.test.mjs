/**
 * Exports that wait for the budget (`Prefer: wait`). The gateway limits the number of waiting
 * exports of a caller and of the organization.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { caller } from "../analytics_requests.mjs";
import { exportOf, newRange, readIncomplete } from "../expected_exports.mjs";
import { assertProblem, startGate } from "../recorded_gateway.mjs";

const PER_CALLER = 2;
const PER_ORGANIZATION = 3;
/** The budget's window is longer than these tests take, so that no waiting export continues. */
const WINDOW_SECONDS = 3600;
/** If an export has not ended after this time, the export is waiting for the budget. */
const OBSERVED_MS = 1500;
const CLOCK_RATE = 5;
/**
 * This time exceeds the 25 s lease of a waiting export. The gateway renews the lease while the
 * export waits.
 */
const LEASE_MS = 26_000 / CLOCK_RATE;
/** The maximum time until a cancelled export frees its place. */
const RELEASE_MS = 60_000;
const range = newRange();
let gate;
const requests = new Set();

before(async () => {
  gate = await startGate("exports-places", {
    clockRate: CLOCK_RATE,
    upstream: { pages: 2500, analyticsLimit: 1e6 },
    gateway: {
      vars: {
        ANALYTICS_LIMIT_PER_HOUR: "4",
        LIMIT_WINDOW_SECONDS: String(WINDOW_SECONDS),
        WAITING_EXPORTS_PER_CALLER: String(PER_CALLER),
        WAITING_EXPORTS: String(PER_ORGANIZATION),
      },
    },
  });
});

after(async () => {
  for (const sent of requests) sent.destroy();
  await gate?.stop();
});

/**
 * Requests an export with `Prefer: wait`. Returns whether the export has ended within
 * {@link OBSERVED_MS}, its body so far, and a function that cancels the export.
 */
async function openExport(name) {
  const target = exportOf("views", { format: "ndjson", ...range });
  const { authorization } = caller(gate, name);
  // All exports have the same request id. Callers choose this id, so the limits must not depend on
  // the id.
  const own = { authorization, "x-request-id": "the-same-for-all" };
  const headers = { ...own, prefer: `wait=${WINDOW_SECONDS}` };
  const sent = request(`${gate.gateway.url}${target}`, { headers, agent: false }).end();
  requests.add(sent);
  sent.on("error", () => {});
  const [answer] = await once(sent, "response");
  assert.equal(answer.statusCode, 200);
  let text = "";
  answer.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  answer.on("error", () => {});
  const ended = once(answer, "end").then(() => true);
  const hasEnded = await Promise.race([ended, sleep(OBSERVED_MS, false)]);
  // After a FIN, a client may still read. Only a reset tells workerd that the client has left.
  return { hasEnded, text, cancel: () => sent.socket.resetAndDestroy() };
}

function assertRefused({ hasEnded, text }) {
  assert.ok(hasEnded, "the export has ended");
  const { incomplete } = readIncomplete(text, "ndjson");
  assert.equal(incomplete.problem, "/problems/too-many-streams");
  assert.equal(incomplete.retryAfter, 60);
}

test("limits the number of waiting exports of a caller and of the organization", async () => {
  const [first] = [await openExport("rita"), await openExport("rita")].map((opened) => {
    assert.ok(!opened.hasEnded, "the export waits");
    return opened;
  });
  assertRefused(await openExport("rita"));
  assert.ok(!(await openExport("bob")).hasEnded, "another caller's export waits");
  assertRefused(await openExport("carol"));

  await sleep(LEASE_MS);
  assertRefused(await openExport("carol"));

  first.cancel();
  const deadline = performance.now() + RELEASE_MS;
  while ((await openExport("carol")).hasEnded) {
    assert.ok(performance.now() < deadline, "a cancelled export frees its place");
    await sleep(500);
  }
});

test("returns 429 for an export that must wait for its first page when the limit is reached", async () => {
  const target = exportOf("views", { format: "csv", ...newRange() });
  const headers = [["Prefer", `wait=${WINDOW_SECONDS}`]];
  const answer = await gate.get(target, { ...caller(gate, "dora"), headers });
  const { detail } = assertProblem(answer, 429, "too-many-streams");
  assert.match(detail, /the organization has 3 exports waiting/);
  assert.equal(answer.header("retry-after"), "60");
});
