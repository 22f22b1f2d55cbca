import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { assertProblem, useGate } from "../recorded_gateway.mjs";
import {
  arrivals,
  assertExceeded,
  atOnce,
  Caller,
  CLOCKS_MS,
  HOUR,
  jobsOf,
  left,
  messageOf,
  newViews,
  PROJECTS,
  unlimited,
  untilStatus,
} from "./rate_limits.mjs";

/** The upstream timeout, in seconds. A request counts for at most an hour plus this timeout. */
const TIMEOUT = 30;
const CREATE_LIMIT = 100;
const MESSAGE_LIMIT = 25;
const ANALYTICS_LIMIT = 60;

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = ["Content-Type", "application/json"];

describe("an hourly window", () => {
  const gate = useGate("budgets", {
    stored: true,
    upstream: { ...unlimited, projects: PROJECTS, jobDurationMs: 600_000 },
    gateway: {
      vars: {
        CREATE_LIMIT_PER_HOUR: String(CREATE_LIMIT),
        MESSAGE_LIMIT_PER_HOUR: String(MESSAGE_LIMIT),
        ANALYTICS_LIMIT_PER_HOUR: String(ANALYTICS_LIMIT),
        UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT),
      },
    },
  });
  const alice = new Caller(gate);
  beforeEach(() => gate.upstream.reset());

  /** Sets the upstream's response to the next request of an operation. */
  const failNext = (operation, status, headers = {}) =>
    gate.upstream.fault({ operation, fault: { kind: "status", status, headers } });

  describe("the reported budget", () => {
    test("counts RateLimit down by one with each request, under each policy", async () => {
      const job = await alice.created("count-docs");
      for (const [policy, limit, ask] of [
        ["create-job", CREATE_LIMIT - 1, () => alice.create("count-docs")],
        ["send-message", MESSAGE_LIMIT, () => alice.followUp("count-docs", job)],
        ["analytics", ANALYTICS_LIMIT, () => alice.views("count-docs")],
      ]) {
        const reported = [];
        for (let count = 0; count < 5; count += 1) reported.push(left(await ask(), policy));
        const expected = [1, 2, 3, 4, 5].map((used) => limit - used);
        assert.deepEqual(reported, expected, policy);
      }
    });

    test("charges no slot if the upstream rejects the gateway's own key", async () => {
      const first = left(await alice.create("back-docs"), "create-job");
      for (const status of [401, 403]) {
        await failNext("agentJobs.create", status);
        const rejected = await alice.create("back-docs");
        assertProblem(rejected, 502, "upstream-credential");
      }
      assert.equal(left(await alice.create("back-docs"), "create-job"), first - 1);

      const views = left(await alice.views("back-docs"), "analytics");
      for (const status of [401, 403]) {
        await failNext("analytics.views", status);
        assertProblem(await alice.views("back-docs"), 502, "upstream-credential");
      }
      assert.equal(left(await alice.views("back-docs"), "analytics"), views - 1);
    });

    test("charges a slot after any other upstream error than a rejected key", async () => {
      const first = left(await alice.create("kept-docs"), "create-job");
      const statuses = [400, 404, 409, 500, 502, 503];
      for (const [used, status] of statuses.entries()) {
        await failNext("agentJobs.create", status);
        const failed = await alice.create("kept-docs");
        assertProblem(failed, status, "upstream-error");
        assert.equal(left(failed, "create-job"), first - 1 - used);
      }
      const last = left(await alice.create("kept-docs"), "create-job");
      assert.equal(last, first - 1 - statuses.length);
    });

    test("charges a slot for each attempt on a broken connection", async () => {
      const first = left(await alice.create("kept-docs"), "create-job");
      await gate.upstream.fault({ fault: { kind: "reset" } });
      assertProblem(await alice.create("kept-docs"), 502, "upstream-unreachable");
      assert.equal(left(await alice.create("kept-docs"), "create-job"), first - 2);

      const views = left(await alice.views("kept-docs"), "analytics");
      await gate.upstream.fault({ times: 2, fault: { kind: "reset" } });
      assertProblem(await alice.views("kept-docs"), 502, "upstream-unreachable");
      assert.equal(left(await alice.views("kept-docs"), "analytics"), views - 3);
      const attempts = await arrivals(gate, "analytics.views");
      assert.equal(attempts.length, 4, "each slot is an attempt upstream");
    });
  });

  test("charges no slot for a request that the gateway rejects", async () => {
    const project = "paid-docs";
    const path = jobsOf(project);
    const job = await alice.created(project);
    const key = [["Idempotency-Key", "costs-nothing"]];
    assert.equal((await alice.create(project, { headers: key })).status, 201);
    const readLeft = async () => [
      left(await alice.create(project), "create-job"),
      left(await alice.followUp(project, job), "send-message"),
      left(await alice.views(project), "analytics"),
    ];
    const before = await readLeft();
    const reached = await gate.received();

    const json = { prompt: "x" };
    const views = newViews(project);
    const writes = [path, messageOf(project, job)];
    const everywhere = (options) => [
      ...writes.map((target) => gate.post(target, json, options)),
      gate.get(views, options),
    ];
    const callerWith = (claims) => new Caller(gate, "alice", claims);
    const postAll = (options) =>
      writes.map((target) => gate.send({ method: "POST", target, ...alice, ...options }));
    const huge = JSON.stringify({ prompt: "x".repeat(MAX_BODY_BYTES) });
    for (const [status, answers] of [
      [401, everywhere({ authorization: null })],
      [401, everywhere({ authorization: "Bearer no.token.atall" })],
      [401, everywhere(callerWith({ exp: 1 }))],
      [403, everywhere(callerWith({ scope: "" }))],
      [403, everywhere(callerWith({ projects: ["other-docs"] }))],
      [403, everywhere({ ...alice, headers: [["Origin", "https://evil.example"]] })],
      [415, postAll({ body: JSON.stringify(json) })],
      [413, postAll({ headers: [JSON_TYPE], body: huge, chunked: true })],
      [400, postAll({ headers: [JSON_TYPE], body: '{"prompt":""}' })],
      [400, postAll({ json, headers: [["Idempotency-Key", '"half']] })],
      [400, [gate.get(`${views}&limit=0`, { ...alice })]],
      [404, [gate.post(`${path}/${job.id}/messages`, json, { ...alice })]],
      [405, [gate.send({ method: "DELETE", target: path, ...alice })]],
      [422, [gate.post(path, { prompt: "another" }, { ...alice, headers: key })]],
    ]) {
      for (const answer of await Promise.all(answers)) {
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.header("ratelimit"), undefined, "the response reports no budget");
      }
    }

    assert.equal(await gate.received(), reached);
    const expected = before.map((slots) => slots - 1);
    assert.deepEqual(await readLeft(), expected);
  });

  describe("the upstream's own 429", () => {
    test("blocks only the policy of an upstream 429, for its Retry-After, also after a kill", async () => {
      const job = await alice.created("closed-docs");
      await failNext("agentJobs.create", 429, { "retry-after": "1800" });
      const first = await alice.create("closed-docs");
      assertProblem(first, 429, "upstream-error");
      assert.equal(first.header("retry-after"), "1800");
      const reached = await gate.received();
      for (const end of [() => {}, () => gate.restart()]) {
        await end();
        const answer = await alice.create("closed-docs");
        const wait = assertExceeded(answer, "create-job", { limit: CREATE_LIMIT });
        assert.match(answer.json.detail, /Mintlify itself/);
        assert.ok(wait > 1700 && wait <= 1800, `${wait} s`);
        assert.equal(await gate.received(), reached, "the upstream receives no further request");
      }
      assert.equal((await alice.followUp("closed-docs", job)).status, 200);
      assert.equal((await alice.views("closed-docs")).status, 200);
      assert.equal((await alice.create("open-docs")).status, 201);
    });

    test("charges no slot for an upstream 429, and opens the policy after its Retry-After", async () => {
      const slots = left(await alice.views("open-docs"), "analytics");
      await failNext("analytics.views", 429, { "retry-after": "1" });
      assertProblem(await alice.views("open-docs"), 429, "upstream-error");
      const { answer, before: rejected } = await untilStatus(200, () => alice.views("open-docs"));
      for (const one of rejected) assertExceeded(one, "analytics", { limit: ANALYTICS_LIMIT });
      assert.equal(left(answer, "analytics"), slots - 1);
      const [, second, third, ...more] = await arrivals(gate, "analytics.views");
      assert.deepEqual(more, [], "no rejected request reaches the upstream");
      assert.ok(third - second >= 1000 - CLOCKS_MS, `${third - second} ms`);
    });
  });

  test("limits only the caller of a token by its quota, and reports it with the limit", async () => {
    const carol = new Caller(gate, "carol", { quota: { "create-job": 3 } });
    const policies = `"create-job";q=${CREATE_LIMIT};w=${HOUR}, "create-job-caller";q=3;w=${HOUR}`;
    for (const [used, expected] of [2, 1, 0].entries()) {
      const answer = await carol.create("own-docs");
      assert.equal(answer.status, 201, answer.text);
      assert.equal(answer.header("ratelimit-policy"), policies);
      assert.equal(left(answer, "create-job"), CREATE_LIMIT - 1 - used);
      assert.equal(left(answer, "create-job-caller"), expected);
    }
    const rejected = await carol.create("own-docs");
    const problem = assertProblem(rejected, 429, "quota-exceeded");
    assert.deepEqual(problem["violated-policies"], ["create-job-caller"]);
    assert.equal(rejected.header("ratelimit-policy"), policies);
    const wait = rejected.header("retry-after");
    const spent = `"create-job";r=${CREATE_LIMIT - 3}, "create-job-caller";r=0;t=${wait}`;
    assert.equal(rejected.header("ratelimit"), spent);
    assert.ok(Number(wait) > 0 && Number(wait) <= HOUR + TIMEOUT, `${wait} s`);
    assert.equal((await gate.upstream.counters()).jobsCreated, 3);

    const other = await alice.create("own-docs");
    assert.equal(left(other, "create-job"), CREATE_LIMIT - 4);
    assert.equal((await carol.views("own-docs")).status, 200, "the quota is for one policy");
  });

  test("counts job budgets per project, and the analytics budget for all projects together", async () => {
    const slots = left(await alice.views("one-docs"), "analytics");
    assert.equal(left(await alice.views("other-docs"), "analytics"), slots - 1);
    assert.equal(left(await alice.views("one-docs"), "analytics"), slots - 2);

    const one = left(await alice.create("one-docs"), "create-job");
    assert.equal(left(await alice.create("other-docs"), "create-job"), CREATE_LIMIT - 1);
    assert.equal(left(await alice.create("one-docs"), "create-job"), one - 1);
  });

  describe("concurrent requests", () => {
    test(`accepts exactly ${CREATE_LIMIT} of 300 concurrent creations`, async () => {
      const [policy, slots] = ["create-job", CREATE_LIMIT];
      const answers = await atOnce(300, () => alice.create("burst-docs"));
      const granted = answers.filter(({ answer }) => answer.status === 201);
      assert.equal(granted.length, slots, "one request is granted per slot");
      const reported = granted.map(({ answer }) => left(answer, policy)).sort((a, b) => a - b);
      assert.deepEqual(reported, [...Array(slots).keys()], "each slot is granted once");
      const reached = await arrivals(gate, "agentJobs.create");
      assert.equal(reached.length, slots, "only granted requests reach the upstream");
      const freed = reached[0] + HOUR * 1000 - CLOCKS_MS;

      const rejected = answers.filter(({ answer }) => answer.status !== 201);
      for (const { answer, received } of rejected) {
        const wait = assertExceeded(answer, policy, { limit: slots });
        // `Retry-After` lasts at least until the budget allows another request, and at most for an
        // hour plus the upstream timeout.
        assert.ok(received + wait * 1000 >= freed, `${wait} s`);
        assert.ok(wait <= HOUR + TIMEOUT, `${wait} s`);
      }
      assert.equal((await gate.upstream.counters()).jobsCreated, CREATE_LIMIT);
      const jobs = new Set((await gate.upstream.jobs()).map(({ id }) => id));
      assert.deepEqual(new Set(granted.map(({ answer }) => answer.json.id)), jobs);
    });
  });

  describe("a Worker killed while requests are in flight", () => {
    const DONE = 40;
    /** A Durable Object sends at most this many creations concurrently. */
    const IN_FLIGHT = 6;
    const project = "crash-docs";

    test("still charges finished and in-flight requests after the Worker is killed", async () => {
      await atOnce(DONE, () => alice.created(project));
      await gate.upstream.hold({ operation: "agentJobs.create", process: true });
      const inFlight = atOnce(IN_FLIGHT, () => alice.create(project));
      await gate.upstream.untilHeld(IN_FLIGHT, 30_000);
      await gate.restart();
      for (const { answer } of await inFlight) assert.equal(answer.status, undefined, "lost");
      await gate.upstream.clearFaults();

      const rest = await atOnce(150, () => alice.create(project));
      const granted = rest.filter(({ answer }) => answer.status === 201);
      assert.equal(granted.length, CREATE_LIMIT - DONE - IN_FLIGHT);
      const reached = await arrivals(gate, "agentJobs.create", project);
      assert.equal(reached.length, CREATE_LIMIT, "no more than the limit in total");
      assert.equal((await gate.upstream.counters()).jobsCreated, CREATE_LIMIT);
      for (const { answer, received } of rest.filter(({ answer }) => answer.status !== 201)) {
        const wait = assertExceeded(answer, "create-job", { limit: CREATE_LIMIT });
        assert.ok(received + wait * 1000 >= reached[0] + HOUR * 1000 - CLOCKS_MS, `${wait} s`);
      }
    });
  });
});
