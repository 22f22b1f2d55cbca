/** Compares the fake gateway of `quillgate/testing` with a real one. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createFakeGateway } from "quillgate/testing";
import { PROJECT, startGate } from "../gateway/recorded_gateway.mjs";
import { SCOPES } from "../harness/token.mjs";
import { describeResponse, readStream, send } from "./testing/conformance.mjs";

const JOBS = "/v2/agent/{project}";
const REPORTS = "/v1/analytics/{project}";
const SITE = "/v1/project/{project}";
const STATUS = "/v1/project/update-status";
const AUTOMATIONS = "/v1/workflow/{project}";
const UNKNOWN_THREAD = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const JOB_DURATION = 1500;
const CREATE_LIMIT = 6;
const RANGE = "dateFrom=2026-10-01&dateTo=2026-11-01";

let gate;
let real;
let fake;
let fakeGateway;
/** The ids of each job in the real and in the fake gateway, by the test's name for the job. */
const ids = new Map();

before(async () => {
  gate = await startGate("fake", {
    upstream: {
      ...{ pages: 30, feedback: 20, searches: 20, conversations: 20 },
      ...{ jobDurationMs: JOB_DURATION, deploymentDurationMs: JOB_DURATION },
    },
    gateway: {
      vars: {
        ...{ JOB_POLL_SECONDS: "1", JOB_POLLS_PER_HOUR: "100000" },
        CREATE_LIMIT_PER_HOUR: String(CREATE_LIMIT),
        UPSTREAM_TIMEOUT_SECONDS: "1",
      },
    },
  });
  const token = gate.token({ sub: "test", scope: SCOPES.join(" ") });
  const { url } = gate.gateway;
  real = { fetch: (request) => fetch(request), url, projectId: PROJECT, token };
  fakeGateway = createFakeGateway({
    author: "test",
    jobDuration: JOB_DURATION,
    deploymentDuration: JOB_DURATION,
    projectId: PROJECT,
  });
  const { auth, baseUrl, ...options } = fakeGateway.clientOptions;
  fake = { ...options, token: auth.token, url: baseUrl };
});
after(() => gate?.stop());

/** Runs a function for both gateways and compares what `summarize` returns for their results. */
async function compare(run, summarize = (result) => result, message) {
  const results = await Promise.all([real, fake].map(run));
  const [expected, found] = results.map(summarize);
  assert.deepEqual(found, expected, message);
  return results;
}

async function assertAlike(path, options) {
  const run = (side, at) => {
    const target = path.replace(/\{job:(\w+)\}/, (_, name) => ids.get(name)[at]);
    return send(side, target, options);
  };
  const results = await compare(run, describeResponse, path);
  return results.map(({ json }) => json);
}

async function create(name, options = {}) {
  const json = options.json ?? { prompt: `Prompt of ${name}` };
  const created = await assertAlike(`${JOBS}/job`, { method: "POST", json, ...options });
  const createdIds = created.map(({ id }) => id);
  ids.set(name, createdIds);
}

describe("jobs", () => {
  test("both gateways create, read and stream a job to its end alike", async () => {
    await create("first");
    await assertAlike(`${JOBS}/job/{job:first}`);
    const [, found] = await compare((side, at) =>
      readStream(side, `${JOBS}/job/${ids.get("first")[at]}/events`, 9),
    );
    assert.equal(found.events.length, 3, "the opening, an active job and a completed job");
    await assertAlike(`${JOBS}/job/{job:first}`);
  });

  test("both gateways accept a follow-up and return the job's record alike", async () => {
    const json = { prompt: "And more" };
    await assertAlike(`${JOBS}/job/{job:first}/message`, { method: "POST", json });
    const records = await assertAlike(`${JOBS}/job/{job:first}/record`);
    const statuses = records.map(({ changes }) => changes.map(({ status }) => status));
    assert.deepEqual(statuses[1], statuses[0]);
    assert.deepEqual(statuses[1], ["active", "completed", "active"]);
  });

  test("both gateways list jobs by page and filter them alike", async () => {
    await create("second", { json: { prompt: "Write the CHANGELOG" } });
    const summarize = ({ jobs, nextCursor }) => [
      jobs.map(({ prompt, createdBy }) => [prompt, createdBy]),
      nextCursor === null,
    ];
    const authors = ["author=test&limit=100", "author=nobody"];
    for (const query of ["limit=1", "text=changelog", ...authors, "state=failed"]) {
      const [expected, found] = await assertAlike(`${JOBS}/jobs?${query}`);
      assert.deepEqual(summarize(found), summarize(expected), query);
    }
    const first = await assertAlike(`${JOBS}/jobs?limit=1`);
    const readNext = (side, at) =>
      send(side, `${JOBS}/jobs?limit=1&cursor=${encodeURIComponent(first[at].nextCursor)}`);
    await compare(readNext, ({ json }) => summarize(json));
  });

  test("both gateways stream the changes of the job list alike", async () => {
    await compare((side) => readStream(side, `${JOBS}/jobs/events`, 2));
  });

  test("both gateways create one job per idempotency key", async () => {
    const headers = { "idempotency-key": "key-1" };
    await create("keyed", { headers });
    await create("replayed", { headers, json: { prompt: "Prompt of keyed" } });
    assert.deepEqual(ids.get("replayed"), ids.get("keyed"));
    const json = { prompt: "another prompt" };
    await assertAlike(`${JOBS}/job`, { method: "POST", json, headers });
  });

  test("both gateways report an unknown outcome when Mintlify does not respond", async () => {
    const fault = { kind: "hang" };
    await gate.upstream.fault({ operation: "agentJobs.create", times: 1, fault });
    fakeGateway.fail("upstream-timeout", { operation: "agentJobs.create" });
    const headers = { "idempotency-key": "key-2" };
    const options = { method: "POST", json: { prompt: "unknown" }, headers };
    await assertAlike(`${JOBS}/job`, options);
    await assertAlike(`${JOBS}/job`, options);
    const forced = { ...headers, "idempotency-retry": "force" };
    await assertAlike(`${JOBS}/job`, { ...options, headers: forced });
    await assertAlike(`${JOBS}/job`, options);
  });

  test("both gateways refuse a job alike when the hourly limit is used up", async () => {
    const json = { prompt: "one too many" };
    for (let used = 0; used < CREATE_LIMIT; used++) {
      const { response } = await send(real, `${JOBS}/job`, { method: "POST", json });
      if (response.status === 429) break;
    }
    fakeGateway.fail("quota-exceeded", { operation: "agentJobs.create", retryAfter: 3600 });
    await assertAlike(`${JOBS}/job`, { method: "POST", json });
  });

  test("both gateways delete a job's record alike", async () => {
    await assertAlike(`${JOBS}/job/{job:second}/record`, { method: "DELETE" });
    await assertAlike(`${JOBS}/job/{job:second}/record`, { method: "DELETE" });
    await assertAlike(`${JOBS}/job/{job:second}/record`);
  });

  test("both gateways refuse requests for unknown jobs alike", async () => {
    const json = { prompt: "more" };
    await assertAlike(`${JOBS}/job/nope`);
    await assertAlike(`${JOBS}/job/nope/record`);
    await assertAlike(`${JOBS}/job/nope/events`);
    await assertAlike(`${JOBS}/job/nope/message`, { method: "POST", json });
  });
});

describe("deployments", () => {
  async function startBoth(kind, options = {}) {
    const path = `/v1/project/${kind}/{project}`;
    const started = await assertAlike(path, { method: "POST", ...options });
    return started.map(({ statusId }) => statusId);
  }

  test("both gateways start and stream a preview to its end alike", async () => {
    const started = await startBoth("preview", { json: { branch: "docs/new" } });
    const readEvents = (side, at) =>
      readStream(side, `${SITE}/deployments/${started[at]}/events`, 30);
    // Their states before the end differ, as do the numbers of events.
    await compare(readEvents, ({ type, events }) => {
      const ofBoth = [events.at(1), events.at(-1)];
      return [type, ...ofBoth.map((fields) => Object.fromEntries(fields).event)];
    });
    for (const side of [0, 1]) {
      const { json } = await send([real, fake][side], `${STATUS}/${started[side]}`);
      assert.equal(json.status, "success");
      assert.equal(json._id, started[side]);
    }
  });

  test("both gateways list deployments by page alike", async () => {
    await startBoth("update");
    const summarize = ({ json: { deployments, nextCursor } }) => [
      deployments.map(({ branch, createdBy }) => [branch, createdBy]),
      nextCursor === null,
      Object.keys(deployments[0]).sort(),
    ];
    for (const query of ["limit=1", "limit=100"]) {
      await compare((side) => send(side, `${SITE}/deployments?${query}`), summarize, query);
    }
  });

  test("both gateways start one deployment per idempotency key", async () => {
    const headers = { "idempotency-key": "deployment-1" };
    const first = await startBoth("update", { headers });
    assert.deepEqual(await startBoth("update", { headers }), first);
    const options = { method: "POST", json: { branch: "b" }, headers };
    await assertAlike("/v1/project/preview/{project}", options);
  });

  test("both gateways run an automation alike", async () => {
    await assertAlike(`${AUTOMATIONS}/weekly/trigger`, { method: "POST" });
  });

  test("both gateways refuse a preview without a branch alike", async () => {
    const path = "/v1/project/preview/{project}";
    for (const json of [{}, { branch: "" }, { branch: 7 }, { branch: "b", ref: "main" }]) {
      await assertAlike(path, { method: "POST", json });
    }
    await assertAlike(path, { method: "POST", body: "{" });
  });

  test("both gateways delete the record of a deployment alike", async () => {
    const started = await startBoth("update");
    for (const time of ["first", "second"]) {
      const remove = (side, at) =>
        send(side, `${SITE}/deployments/${started[at]}`, { method: "DELETE" });
      await compare(remove, describeResponse, time);
    }
  });

  test("both gateways refuse requests for unknown deployments alike", async () => {
    await assertAlike(`${STATUS}/nope`);
    await assertAlike(`${SITE}/deployments/nope/events`);
    await assertAlike(`${SITE}/deployments/nope`, { method: "DELETE" });
    await assertAlike(`${SITE}/deployments/nope`);
  });
});

describe("reports", () => {
  const LISTS = {
    views: ["views", "views"],
    visitors: ["visitors", "visitors"],
    feedback: ["feedback", "feedback"],
    feedbackByPage: ["feedback/by-page", "feedback"],
    searches: ["searches", "searches"],
    conversations: ["assistant", "conversations"],
  };

  for (const [name, [path, rows]] of Object.entries(LISTS)) {
    test(`both gateways return the same rows and pages of ${name}`, async () => {
      const whole = await send(real, `${REPORTS}/${path}?${RANGE}&limit=100`);
      fakeGateway.reports[name] = whole.json[rows];
      for (const query of ["limit=3", "limit=100", ""]) {
        const [expected, found] = await assertAlike(`${REPORTS}/${path}?${RANGE}&${query}`);
        assert.deepEqual(found[rows], expected[rows]);
        assert.equal(found.hasMore, expected.hasMore);
        assert.equal(found.nextCursor === null, expected.nextCursor === null);
      }
    });
  }

  test("both gateways continue views by offset and searches by cursor", async () => {
    const [expected, found] = await assertAlike(`${REPORTS}/views?${RANGE}&limit=5&offset=5`);
    assert.deepEqual(found.views, expected.views);
    const pages = await assertAlike(`${REPORTS}/searches?${RANGE}&limit=5`);
    const readNext = (side, at) => {
      const cursor = encodeURIComponent(pages[at].nextCursor);
      return send(side, `${REPORTS}/searches?${RANGE}&limit=5&cursor=${cursor}`);
    };
    await compare(readNext, ({ json }) => json.searches);
  });

  test("both gateways return a conversation and the caller statistics alike", async () => {
    const { json } = await send(real, `${REPORTS}/assistant?${RANGE}&limit=1`);
    const threads = `${REPORTS}/assistant/threads`;
    const { json: thread } = await send(real, `${threads}/${json.conversations[0].id}`);
    fakeGateway.reports.threads = [thread];
    const path = `${threads}/${thread.threadId}`;
    const [expected, found] = await assertAlike(path);
    assert.deepEqual(found, expected);
    await assertAlike(`${REPORTS}/assistant/caller-stats?${RANGE}`);
  });

  test("both gateways refuse requests for an archive that is not configured alike", async () => {
    await assertAlike(`${REPORTS}/views/daily?${RANGE}`);
    await assertAlike(`${REPORTS}/views/archived?${RANGE}`);
  });
});

describe("requests", () => {
  test("both gateways refuse an invalid token or another project alike", async () => {
    await assertAlike(`${JOBS}/jobs`, { token: null });
    await assertAlike(`${JOBS}/jobs`, { token: "nobody.knows.this" });
    await assertAlike("/v2/agent/another-project/jobs");
  });

  test("both gateways refuse unknown routes and methods alike", async () => {
    await assertAlike(`${JOBS}/nope`);
    await assertAlike("/v3/else");
    await assertAlike(`${JOBS}/job`, { method: "DELETE" });
    await assertAlike(`${JOBS}/jobs`, { method: "POST", json: {} });
  });

  test("both gateways refuse requests that break a rule alike", async () => {
    const bodies = [{}, { prompt: "" }, { prompt: 5 }, { prompt: "a", other: 1 }, [], null];
    for (const json of bodies) await assertAlike(`${JOBS}/job`, { method: "POST", json });
    await assertAlike(`${JOBS}/job`, { method: "POST", body: "{" });
    const queries = ["limit=0", "limit=251", "limit=x", "offset=-1", "other=1"];
    for (const query of queries) await assertAlike(`${REPORTS}/views?${query}`);
    for (const query of ["limit=101", "state=other", "text="]) {
      await assertAlike(`${JOBS}/jobs?${query}`);
    }
    await assertAlike(`${REPORTS}/assistant/threads/${UNKNOWN_THREAD}`);
  });
});
