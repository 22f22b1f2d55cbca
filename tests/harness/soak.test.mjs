/** What the soak judges by: it must see what is wrong. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { growthAfterWarmUp, windowsAfterWarmUp } from "../soak/memory.mjs";
import { Random } from "../soak/random.mjs";
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

function judge(operation, value, { status = 200, contentType = "application/json" } = {}) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return findShapeFault({ operation, status, contentType, text });
}

test("answers of the promised shape are in order", () => {
  for (const operation of ["create", "read", "message"]) {
    assert.equal(judge(operation, JOB), undefined);
  }
  assert.equal(judge("views", VIEWS), undefined);
  assert.equal(judge("list", LIST), undefined);
  const problem = { status: 500, contentType: "application/problem+json" };
  assert.equal(judge("read", PROBLEM, problem), undefined);
});

test("a success that is cut, empty or of another shape is a fault", () => {
  for (const text of ["", "{", JSON.stringify(JOB).slice(0, 40), "null", "[]", "{}"]) {
    assert.ok(judge("read", text), `a job: ${text}`);
    assert.ok(judge("views", text), `views: ${text}`);
    assert.ok(judge("list", text), `a list: ${text}`);
  }
  for (const name of Object.keys(JOB)) {
    assert.ok(judge("read", { ...JOB, [name]: 7 }), `a wrong ${name}`);
  }
  assert.ok(judge("views", { ...VIEWS, views: [{ path: "/" }] }));
  assert.ok(judge("list", { ...LIST, jobs: [{ id: "j1" }] }));
  assert.ok(judge("unheard-of", JOB), "an operation without a shape");
  assert.ok(judge("read", JOB, { contentType: "text/html" }));
});

test("a failure that is no problem is a fault", () => {
  const head = { status: 502, contentType: "application/problem+json" };
  assert.ok(judge("read", PROBLEM, head), "another status in the body");
  assert.ok(judge("read", { ...PROBLEM, status: 502 }, { ...head, contentType: "text/html" }));
  assert.ok(judge("read", "<html>", head));
});

test("memory is compared after the first minute, and growth is seen", () => {
  const seconds = (count, bytesAt) =>
    Array.from({ length: count + 1 }, (_, at) => ({ at: at * 1000, bytes: bytesAt(at) }));
  assert.equal(growthAfterWarmUp(seconds(60, () => 100)), undefined);
  assert.equal(windowsAfterWarmUp(seconds(150, () => 100)).length, 3);
  // What grows in the first minute, or goes up and down, is no growth.
  assert.equal(growthAfterWarmUp(seconds(150, (at) => (at < 60 ? at : 100))), 1);
  assert.equal(growthAfterWarmUp(seconds(150, (at) => (at % 7 === 0 ? 300 : 100))), 1);
  const growth = growthAfterWarmUp(seconds(600, (at) => 100 + at / 2));
  assert.ok(growth > 2, String(growth));
});

test("the same seed makes the same choices, each as often as its weight says", () => {
  const draw = (seed) => {
    const random = new Random(seed);
    return Array.from({ length: 3000 }, () => random.pickWeighted({ often: 2, seldom: 1 }));
  };
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
  const often = draw(1).filter((name) => name === "often").length;
  // Two thousand, and five standard deviations of a binomial distribution.
  assert.ok(often > 1870 && often < 2130, String(often));
});
