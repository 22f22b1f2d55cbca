import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { headerOf, startUpstream } from "./upstream.mjs";

const KEY = "mint_harness_key";
const READ_KEY = "mint_harness_reader";
const JOBS = "/v2/agent/demo-docs/job";
const VIEWS = "/v1/analytics/demo-docs/views";

const upstream = await startUpstream({ key: KEY, readKey: READ_KEY, pages: 3 });
after(() => upstream.stop());
beforeEach(() => upstream.reset());

function ask(path, { key = KEY, ...init } = {}) {
  const headers = { authorization: `Bearer ${key}`, ...init.headers };
  return fetch(`${upstream.url}${path}`, { ...init, headers });
}

function create(headers = {}, key = KEY) {
  const body = '{"prompt":"x"}';
  const fields = { "content-type": "application/json", ...headers };
  return ask(JOBS, { method: "POST", body, key, headers: fields });
}

test("holds requests, all or a few of them, until they are released", async () => {
  await upstream.hold({ operation: "agentJobs.create" });
  const running = [1, 2, 3].map(() => create());
  await upstream.untilHeld(3);
  assert.equal((await ask(VIEWS)).status, 200, "another operation is not held");
  assert.equal((await upstream.counters()).jobsCreated, 0);
  assert.equal(await upstream.release(1), 1);
  assert.equal((await Promise.any(running)).status, 201);
  assert.equal(await upstream.release(), 2);
  for (const { status } of await Promise.all(running)) assert.equal(status, 201);
  assert.equal((await create()).status, 201, "none is held any more");
});

test("holds what was carried out, and lets it go wrong then", async () => {
  await upstream.hold({ times: 1, process: true, next: { kind: "reset" } });
  const running = create();
  await upstream.untilHeld(1);
  assert.equal((await upstream.jobs()).length, 1);
  await upstream.release();
  await assert.rejects(running);
});

test("says who has created a job and how often it was asked for", async () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const { id } = await (await create({ traceparent, "idempotency-key": "one" })).json();
  for (let n = 0; n < 3; n += 1) await ask(`${JOBS}/${id}`, { key: READ_KEY });
  const { origin, reads } = await upstream.job(id);
  assert.deepEqual(
    [origin.key, origin.traceparent, origin.idempotencyKey],
    ["key", traceparent, "one"],
  );
  assert.deepEqual([reads.count, reads.at.length], [3, 3]);

  const [created, read] = await upstream.requests();
  assert.equal(headerOf(created, "idempotency-key"), "one");
  assert.equal(headerOf(created, "unknown"), undefined);
  assert.deepEqual([created.key, read.key], ["key", "read-key"]);
  assert.ok(created.at <= read.at);
});

test("moves a job where a test wants it", async () => {
  const { id } = await (await create()).json();
  const prLink = "https://github.com/acme/docs/pull/7";
  await upstream.setJob(id, { status: "completed", prLink });
  const job = await (await ask(`${JOBS}/${id}`)).json();
  assert.deepEqual([job.status, job.prLink], ["completed", prLink]);
});

test("gets jobs from before its start", async () => {
  const createdAt = Date.UTC(2024, 0, 1);
  await upstream.addJob("an-earlier-one", { projectId: "demo-docs", createdAt });
  await upstream.setJob("an-earlier-one", { status: "planning" });
  const job = await (await ask(`${JOBS}/an-earlier-one`)).json();
  assert.deepEqual([job.status, job.createdAt], ["planning", "2024-01-01T00:00:00.000Z"]);
});

test("keys expire by name and come back", async () => {
  assert.equal((await create({}, READ_KEY)).status, 403);
  await upstream.setKey({ name: "read-key", state: "expired" });
  assert.equal((await ask(VIEWS, { key: READ_KEY })).status, 401);
  await upstream.setKey({ key: "mint_harness_next", name: "next", state: "accepted" });
  assert.equal((await ask(VIEWS, { key: "mint_harness_next" })).status, 200);
  await upstream.restoreKeys();
  assert.equal((await ask(VIEWS, { key: READ_KEY })).status, 200);
  assert.equal((await ask(VIEWS, { key: "mint_harness_next" })).status, 401);
});

test("limits are lowered, lifted and restored", async () => {
  await upstream.setLimits({ create: 1, analytics: null });
  assert.deepEqual(await upstream.limits(), { create: 1, message: 100, analytics: null });
  assert.deepEqual([(await create()).status, (await create()).status], [201, 429]);
  await upstream.restoreLimits();
  assert.equal((await create()).status, 201);
  assert.equal((await upstream.counters()).jobsCreated, 2);
});

test("its clock is moved, and the hour's limits go with it", async () => {
  const { now } = await upstream.clock();
  await upstream.setLimits({ analytics: 1 });
  assert.deepEqual([(await ask(VIEWS)).status, (await ask(VIEWS)).status], [200, 429]);
  const moved = await upstream.forwardClock(3_600_000);
  assert.ok(moved.now >= now + 3_600_000);
  assert.equal((await ask(VIEWS)).status, 200);
  await upstream.restoreLimits();
});

test("counts come late and lists have holes until they are taken back", async () => {
  const range = { dateFrom: "2024-01-01", dateTo: "2024-01-02" };
  const page = async () => (await ask(`${VIEWS}?${new URLSearchParams(range)}`)).json();
  const rows = async () =>
    (await upstream.rows({ report: "views", ...range })).split("\n").slice(0, -1);
  const usual = await page();
  assert.deepEqual(usual.views, (await rows()).map(JSON.parse));
  await upstream.setLate({ day: "2024-01-01", percent: 50 });
  assert.ok((await page()).totals.total > usual.totals.total);
  await upstream.clearLate();
  await upstream.digHole({ at: 0, places: 50 });
  assert.deepEqual([(await page()).views, (await page()).hasMore], [[], true]);
  assert.equal((await rows()).length, 3);
  await upstream.fillHoles();
  assert.deepEqual(await page(), usual);
});

test("makes requests go wrong at random until the rate is cleared", async () => {
  await upstream.setFaultRate({ perThousand: 1000, seed: 3 });
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => isWhole(ask(VIEWS))));
  assert.ok(!outcomes.includes(true), "every request went wrong");
  const { perThousand, injected } = await upstream.faultRate();
  assert.equal(perThousand, 1000);
  const struck = Object.values(injected).reduce((sum, count) => sum + count, 0);
  // A connection that broke before its answer may have been tried twice by Node's `fetch`.
  assert.ok(struck >= 50, `${struck} faults`);
  await upstream.clearFaultRate();
  assert.equal(await isWhole(ask(VIEWS)), true);
  assert.equal((await upstream.faultRate()).perThousand, 0);
});

/** Whether an answer is a success whose body is JSON. */
function isWhole(asking) {
  return asking
    .then((response) => response.json())
    .then(
      ({ views }) => views !== undefined,
      () => false,
    );
}
