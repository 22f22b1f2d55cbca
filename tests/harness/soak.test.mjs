/** Tests the checks of the soak test. A check that accepts everything would hide every fault. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { growthAfterWarmUp, windowsAfterWarmUp } from "../soak/memory.mjs";
import { findShapeFault } from "../soak/shapes.mjs";

const JOB = {
  id: "j1",
  status: "active",
  source: { repository: "acme/docs", ref: "main" },
  model: "m",
  prLink: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  archivedAt: null,
};
const COUNTS = { human: 1, ai: 2, total: 3 };
const VIEWS = { totals: COUNTS, views: [{ path: "/", ...COUNTS }], hasMore: false };
const LIST = { jobs: [{ ...JOB, prompt: "x", createdBy: "alice" }], nextCursor: null };
const PROBLEM = { type: "/problems/internal", title: "t", status: 500, instance: "i" };

function findFault(operation, value, { status = 200, contentType = "application/json" } = {}) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return findShapeFault({ operation, status, contentType, text });
}

test("the soak test accepts responses with the documented shape", () => {
  for (const operation of ["create", "read", "message"]) {
    assert.equal(findFault(operation, JOB), undefined);
  }
  assert.equal(findFault("views", VIEWS), undefined);
  assert.equal(findFault("list", LIST), undefined);
  const problem = { status: 500, contentType: "application/problem+json" };
  assert.equal(findFault("read", PROBLEM, problem), undefined);
});

test("the soak test finds successes that are truncated, empty or have another shape", () => {
  for (const text of ["", "{", JSON.stringify(JOB).slice(0, 40), "null", "[]", "{}"]) {
    assert.ok(findFault("read", text), `a job: ${text}`);
    assert.ok(findFault("views", text), `views: ${text}`);
    assert.ok(findFault("list", text), `a list: ${text}`);
  }
  for (const name of Object.keys(JOB)) {
    assert.ok(findFault("read", { ...JOB, [name]: 7 }), `a wrong ${name}`);
  }
  assert.ok(findFault("views", { ...VIEWS, views: [{ path: "/" }] }));
  assert.ok(findFault("list", { ...LIST, jobs: [{ id: "j1" }] }));
  assert.ok(findFault("unknown", JOB), "an operation without a shape");
  assert.ok(findFault("read", JOB, { contentType: "text/html" }));
});

test("the soak test finds failures that are not a matching problem", () => {
  const head = { status: 502, contentType: "application/problem+json" };
  assert.ok(findFault("read", PROBLEM, head), "another status in the body");
  assert.ok(findFault("read", { ...PROBLEM, status: 502 }, { ...head, contentType: "text/html" }));
  assert.ok(findFault("read", "<html>", head));
});

test("the soak test finds memory growth after the first minute", () => {
  const seconds = (count, bytesAt) =>
    Array.from({ length: count + 1 }, (_, at) => ({ at: at * 1000, bytes: bytesAt(at) }));
  assert.equal(growthAfterWarmUp(seconds(60, () => 100)), undefined);
  assert.equal(windowsAfterWarmUp(seconds(150, () => 100)).length, 3);
  // Growth within the first minute and fluctuation do not count.
  assert.equal(growthAfterWarmUp(seconds(150, (at) => (at < 60 ? at : 100))), 1);
  assert.equal(growthAfterWarmUp(seconds(150, (at) => (at % 7 === 0 ? 300 : 100))), 1);
  const growth = growthAfterWarmUp(seconds(600, (at) => 100 + at / 2));
  assert.ok(growth > 2, String(growth));
});
