/** The keys upstream, and what is done when the upstream fails: asked once more, or left alone. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { newCanaryKey, scanForCanary } from "../harness/canary.mjs";
import { LOGS } from "../harness/process.mjs";
import { accessClaims, mintToken } from "../harness/token.mjs";
import { assertProblem, JOBS, PROJECT, startGate, VIEWS } from "./gate.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const prompt = "keep it";
/** Far more than an answer takes, so that only what hangs runs into it. */
const TIMEOUT_SECONDS = 2;
const GET = "agentJobs.get";
const CREATE = "agentJobs.create";

/** The gateway's keys, newest first. */
const keys = {
  write: newCanaryKey(),
  writeBefore: newCanaryKey(),
  read: newCanaryKey(),
  readBefore: newCanaryKey(),
};
/** What each may do while nothing is changed. */
const STATES = { write: "write", writeBefore: "write", read: "read", readBefore: "read" };

let gate;
let ranges = 0;

before(async () => {
  gate = await startGate("upstream-keys", {
    gateway: {
      adminKey: `${keys.write},${keys.writeBefore}`,
      readKey: `${keys.read}, ${keys.readBefore}`,
      vars: { UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) },
    },
  });
});
after(() => gate?.stop());
beforeEach(async () => {
  await gate.upstream.reset();
  await setKeys(STATES);
  // Successes between the failures, so that the breaker has no reason to open.
  await Promise.all([1, 2, 3].map((at) => gate.get(`${JOBS}/ok-${at}`)));
  await gate.upstream.reset();
});

async function setKeys(states) {
  for (const [name, state] of Object.entries(states)) {
    await gate.upstream.setKey({ key: keys[name], name, state });
  }
}

/** Page views of a range that nobody has asked for before. */
const freshViews = () => {
  ranges += 1;
  const day = String(ranges).padStart(2, "0");
  return gate.get(`${VIEWS}?dateFrom=2024-01-01&dateTo=2024-02-${day}`);
};

/** The names of the keys that the upstream has seen, in order. */
const keysSeen = async () => (await gate.upstream.requests()).map(({ key }) => key);

/** A job of the upstream, whose creation is forgotten. */
async function someJob() {
  const { json } = await gate.post(JOBS, { prompt });
  return json.id;
}

/** Asserts that the operator is told, and the caller not. */
async function assertCredentialProblem(answer, status) {
  const problem = assertProblem(answer, 502, "upstream-credential");
  assert.equal(problem.upstream, undefined);
  assert.equal(answer.header("www-authenticate"), undefined);
  assert.doesNotMatch(answer.text, /expired|read access|write access|mint_/i);
  const line = await gate.logged(answer.header("x-request-id"));
  assert.match(line.operator, new RegExp(`refused .*${status}`));
  assert.equal(line.upstreamStatus, status);
  return line.operator;
}

describe("the read key", () => {
  test("is used for every GET, and the write key for POSTs alone", async () => {
    const job = await someJob();
    assert.equal((await gate.post(`${JOBS}/${job}/message`, { prompt })).status, 200);
    assert.equal((await gate.get(`${JOBS}/${job}`)).status, 200);
    assert.equal((await freshViews()).status, 200);
    assert.equal((await gate.get(LIST)).status, 200);
    const requests = await gate.upstream.requests();
    assert.ok(requests.length >= 4);
    for (const { method, key } of requests) {
      assert.equal(key, method === "GET" ? "read" : "write", method);
    }
  });
});

describe("two keys, newest first", () => {
  for (const [what, ask] of [
    ["a job", async () => gate.get(`${JOBS}/${await someJob()}`)],
    ["page views", freshViews],
  ]) {
    test(`a GET falls back once when the newest has expired: ${what}`, async () => {
      await setKeys({ read: "expired" });
      const answer = await ask();
      assert.equal(answer.status, 200, answer.text);
      const seen = (await keysSeen()).filter((name) => name.startsWith("read"));
      assert.deepEqual(seen, ["read", "readBefore"]);
      const line = await gate.logged(answer.header("x-request-id"));
      assert.match(line.operator, /refused the first of the gateway's keys/);
    });
  }

  test("a POST falls back once, and makes exactly one job", async () => {
    await setKeys({ write: "expired" });
    const before = remaining(await gate.post(JOBS, { prompt }));
    const created = await gate.post(JOBS, { prompt });
    assert.equal(created.status, 201, created.text);
    assert.equal(before - remaining(created), 1, "it is counted once");
    assert.deepEqual(await keysSeen(), ["write", "writeBefore", "write", "writeBefore"]);
    const line = await gate.logged(created.header("x-request-id"));
    assert.match(line.operator, /refused the first of the gateway's keys/);
    assert.equal((await gate.upstream.jobs()).length, 2);
    assert.equal((await gate.upstream.jobs()).at(-1).id, created.json.id);
  });

  test("a follow-up falls back once, and is sent once", async () => {
    const job = await someJob();
    await setKeys({ write: "expired" });
    const answer = await gate.post(`${JOBS}/${job}/message`, { prompt: "and more" });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual((await gate.upstream.jobs()).at(-1).messages, ["and more"]);
  });

  test("the older one is not asked while the newest is good", async () => {
    await setKeys({ readBefore: "expired", writeBefore: "expired" });
    assert.equal((await gate.get(`${JOBS}/${await someJob()}`)).status, 200);
    assert.deepEqual(await keysSeen(), ["write", "read"]);
  });

  test("both expired: a 502, of which the log tells the operator why", async () => {
    await setKeys({
      read: "expired",
      readBefore: "expired",
      write: "expired",
      writeBefore: "expired",
    });
    const told = await assertCredentialProblem(await gate.get(`${JOBS}/j1`), 401);
    assert.match(told, /expired/);
    await assertCredentialProblem(await freshViews(), 401);
    await assertCredentialProblem(await gate.post(JOBS, { prompt }), 401);
    const both = (name) => [name, `${name}Before`];
    assert.deepEqual(await keysSeen(), [...both("read"), ...both("read"), ...both("write")]);
    assert.deepEqual(await gate.upstream.jobs(), []);
  });

  test("a refusal costs nothing: the slot is given back and the idempotency key forgotten", async () => {
    const before = remaining(await gate.post(JOBS, { prompt }));
    await setKeys({ write: "expired", writeBefore: "expired" });
    const headers = [["Idempotency-Key", "for-later"]];
    await assertCredentialProblem(await gate.post(JOBS, { prompt }, { headers }), 401);
    await setKeys({ write: "write" });
    const created = await gate.post(JOBS, { prompt }, { headers });
    assert.equal(created.status, 201, created.text);
    assert.equal(before - remaining(created), 1);
  });

  test("403 is no reason to fall back", async () => {
    await setKeys({ read: "write", write: "read" });
    const told = await assertCredentialProblem(await gate.get(`${JOBS}/j1`), 403);
    assert.match(told, /limited to write access/);
    await assertCredentialProblem(await freshViews(), 403);
    await assertCredentialProblem(await gate.post(JOBS, { prompt }), 403);
    assert.deepEqual(await keysSeen(), ["read", "read", "write"]);
    assert.deepEqual(await gate.upstream.jobs(), []);
  });

  test("nor is any other error", async () => {
    for (const status of [400, 404, 500]) {
      await gate.upstream.fault({ operation: CREATE, fault: { kind: "status", status } });
      assert.equal((await gate.post(JOBS, { prompt })).status, status);
    }
    assert.deepEqual(new Set(await keysSeen()), new Set(["write"]));
  });

  function remaining(answer) {
    return Number(/"create-job";r=(\d+)/.exec(answer.header("ratelimit"))[1]);
  }
});

describe("an upstream that takes too long", () => {
  for (const [what, ask, outcome] of [
    ["a job", () => gate.get(`${JOBS}/j1`), undefined],
    ["page views", freshViews, undefined],
    ["a creation", () => gate.post(JOBS, { prompt }), "unknown"],
    ["a follow-up", () => gate.post(`${JOBS}/j1/message`, { prompt }), "unknown"],
  ]) {
    test(`is given up after its time, and asked once: ${what}`, async () => {
      await gate.upstream.fault({ fault: { kind: "hang" }, times: 0 });
      const answer = await ask();
      assert.equal(assertProblem(answer, 504, "upstream-timeout").outcome, outcome);
      const line = await gate.logged(answer.header("x-request-id"));
      assert.deepEqual([line.upstreamStatus, line.problem], [null, "upstream-timeout"]);
      assert.ok(
        line.upstreamMilliseconds >= 1000 * TIMEOUT_SECONDS,
        `${line.upstreamMilliseconds} ms`,
      );
      assert.equal(await gate.received(), 1);
    });
  }
});

describe("a failure that may pass", () => {
  const reset = { kind: "reset" };
  const status = (code, headers) => ({ kind: "status", status: code, headers });
  const read = () => gate.get(`${JOBS}/none`);

  for (const [what, fault] of [
    ["a reset", reset],
    ["502", status(502)],
    ["503", status(503)],
    ["504", status(504)],
  ]) {
    test(`a GET is asked once more after ${what}`, async () => {
      const job = await someJob();
      await gate.upstream.fault({ operation: GET, fault });
      const answer = await gate.get(`${JOBS}/${job}`);
      assert.deepEqual([answer.status, answer.json.id], [200, job]);
      assert.equal((await gate.upstream.counters()).byOperation[GET], 2);
    });
  }

  test("a GET is asked no third time", async () => {
    await gate.upstream.fault({ fault: status(503), times: 0 });
    assertProblem(await read(), 503, "upstream-error");
    assert.equal(await gate.received(), 2);
    await gate.upstream.reset();
    await gate.upstream.fault({ fault: reset, times: 0 });
    assertProblem(await read(), 502, "upstream-unreachable");
    assert.equal(await gate.received(), 2);
  });

  test("page views are asked once more, which their budget counts", async () => {
    const left = (answer) => Number(/"analytics";r=(\d+)/.exec(answer.header("ratelimit"))[1]);
    const before = left(await freshViews());
    await gate.upstream.fault({ fault: status(503) });
    assert.equal((await freshViews()).status, 200);
    assert.equal(await gate.received(), 3);
    assert.equal(before - left(await freshViews()), 3);
  });

  for (const [what, fault, code] of [
    ["500", status(500), 500],
    ["404", status(404), 404],
    ["400", status(400), 400],
    ["429", status(429), 429],
    ["503 that asks to wait", status(503, { "retry-after": "7" }), 503],
  ]) {
    test(`a GET is not asked again after ${what}`, async () => {
      await gate.upstream.fault({ operation: GET, fault, times: 0 });
      const answer = await read();
      assertProblem(answer, code, "upstream-error");
      assert.equal(await gate.received(), 1);
    });
  }

  for (const [what, fault, code] of [
    ["a reset", reset, 502],
    ["a reset after the work was done", { ...reset, process: true }, 502],
    ["502", status(502), 502],
    ["503", status(503), 503],
    ["504", status(504), 504],
    ["500", status(500), 500],
  ]) {
    test(`a POST is never asked again: ${what}`, async () => {
      await gate.upstream.fault({ operation: CREATE, fault, times: 0 });
      const answer = await gate.post(JOBS, { prompt });
      assert.equal(answer.status, code, answer.text);
      assert.equal(answer.json.outcome, "unknown");
      assert.equal(await gate.received(), 1);
      assert.equal((await gate.upstream.jobs()).length, fault.process ? 1 : 0);
    });
  }
});

describe("an upstream that keeps failing", () => {
  /** Of how many calls half must have failed. */
  const LEAST_CALLS = 20;
  const OTHER = "empty-docs";
  const READS = { operation: GET, fault: { kind: "status", status: 500 }, times: 0 };
  let alone;
  let authorization;

  before(async () => {
    alone = await startGate("upstream-keys-breaker", { upstream: { projects: [PROJECT, OTHER] } });
    authorization = `Bearer ${alone.token({ projects: [PROJECT, OTHER] })}`;
    await alone.upstream.fault(READS);
  });
  after(() => alone?.stop());

  const deep = (project = PROJECT) => {
    const claims = accessClaims({ sub: "olga", scope: "gateway:operate" });
    const operator = `Bearer ${alone.known(mintToken(claims, alone.secret))}`;
    return alone.get(`/healthz?deep&project=${project}`, { authorization: operator });
  };
  const pathOf = (project, rest = "") => `/v2/agent/${project}/job${rest}`;
  const read = (id, project = PROJECT) => alone.get(pathOf(project, `/${id}`), { authorization });
  const post = (target, headers = []) => alone.post(target, { prompt }, { authorization, headers });

  /** Asserts that whatever else there is goes on. */
  async function assertOthersGoOn() {
    const created = await post(JOBS);
    assert.equal(created.status, 201, created.text);
    assert.equal((await post(`${JOBS}/${created.json.id}/message`)).status, 200);
    assert.equal((await alone.get(VIEWS)).status, 200);
    assertProblem(await read("j1", OTHER), 500, "upstream-error");
  }

  test("for one id stops nobody, however often it is asked for", async () => {
    assert.equal((await deep()).json.status, "ok");
    for (let asked = 1; asked <= 3 * LEAST_CALLS; asked += 1) {
      assertProblem(await read("j1"), 500, "upstream-error");
      assert.equal(await alone.received(), asked);
    }
    assert.equal((await deep()).json.status, "ok");
    await assertOthersGoOn();
  });

  test("for many ids is no longer asked for jobs of that project", async () => {
    for (let job = 2; job <= LEAST_CALLS; job += 1) {
      assertProblem(await read(`j${job}`), 500, "upstream-error");
    }
    const reached = await alone.received();
    for (const id of ["j1", "j99"]) {
      const answer = await read(id);
      const { outcome } = assertProblem(answer, 503, "upstream-unavailable");
      assert.equal(outcome, undefined, "nothing was sent");
      const wait = Number(answer.header("retry-after"));
      assert.ok(wait > 0 && wait <= 30, `Retry-After: ${wait}`);
      const line = await alone.logged(answer.header("x-request-id"));
      assert.deepEqual([line.problem, line.upstreamStatus], ["upstream-unavailable", null]);
    }
    assert.equal(await alone.received(), reached);
  });

  test("stops neither writes nor views nor another project", () => assertOthersGoOn());

  test("is degraded to operators of that project, while the Worker is up", async () => {
    const { status, organisation, project } = (await deep()).json;
    const breakers = [organisation.breaker, project.breaker];
    assert.deepEqual([status, ...breakers], ["degraded", "closed", "open"]);
    assert.equal((await deep(OTHER)).json.status, "ok");
    const up = await alone.get("/healthz", { authorization: null });
    assert.deepEqual([up.status, up.json], [200, { status: "ok" }]);
  });

  test("for creations is left alone, and costs nobody a slot meanwhile", async () => {
    await alone.upstream.fault({ fault: { kind: "status", status: 500 }, times: 0 });
    const { left } = (await deep()).json.project.budgets["create-job"];
    for (let asked = 0; asked < LEAST_CALLS; asked += 1) {
      assertProblem(await post(JOBS), 500, "upstream-error");
    }
    const headers = [["Idempotency-Key", "while-open"]];
    const reached = await alone.received();
    for (const answer of [await post(JOBS), await post(JOBS, headers), await post(JOBS, headers)]) {
      const { outcome } = assertProblem(answer, 503, "upstream-unavailable");
      assert.equal(outcome, undefined, "nothing was sent");
    }
    assert.equal(await alone.received(), reached);
    const { project } = (await deep()).json;
    assert.equal(project.budgets["create-job"].left, left - LEAST_CALLS);
    assertProblem(await post(pathOf(OTHER)), 500, "upstream-error");
  });

  test("does not count for who is redirected, or is answered something else", async () => {
    await alone.upstream.clearFaults();
    for (const kind of [
      { kind: "redirect", status: 302, location: "/" },
      { kind: "malformedJson" },
    ]) {
      await alone.upstream.fault({ fault: kind, times: 0 });
      for (let job = 0; job < 2 * LEAST_CALLS; job += 1) {
        assert.equal((await read(`r${job}`, OTHER)).status, 502);
      }
      await alone.upstream.clearFaults();
    }
    assertProblem(await read("gone", OTHER), 404, "upstream-error");
  });

  test("does not keep anybody from what the gateway itself knows", async () => {
    assert.equal((await alone.get(LIST)).status, 200);
    assertProblem(await alone.get(LIST, { authorization: null }), 401, "missing-token");
    await alone.assertDiscreet();
  });
});

test("the read key is used by the gate itself, too, when it watches a job", async () => {
  const job = await someJob();
  const exchange = gate.open(gate.bytes({ target: `${JOBS}/${job}/events` }));
  await exchange.until(({ text }) => text.includes(job));
  exchange.leave();
  const watched = (await gate.upstream.requests()).filter(({ operation }) => operation === GET);
  for (const { key } of watched) assert.equal(key, "read");
});

test("none of the keys is in an answer or in the log", async () => {
  await gate.assertDiscreet();
  const files = ["bin", "log"].map((kind) => join(LOGS, `traffic-upstream-keys.${kind}`));
  for (const [name, key] of Object.entries(keys)) {
    const { hits } = await scanForCanary(key, files);
    assert.deepEqual(hits, [], name);
  }
  for (const file of files) assert.doesNotMatch(readFileSync(file, "latin1"), /mint_/);
});
