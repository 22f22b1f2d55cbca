/** An upgrade. The gateway must work with the storage of an earlier release. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { deriveKeys } from "../../../scripts/webhook_key.mjs";
import { Receiver, signatureProblem } from "../../harness/receiver.mjs";
import { assertViews, withoutQuota } from "../analytics_requests.mjs";
import { isNow, keyed, runSql, useJobs, WEBHOOK_SECRET, webhookVars } from "../jobs_gateway.mjs";
import { assertProblem, PROJECT, useServer } from "../recorded_gateway.mjs";

const STATE = fileURLToPath(new URL("state", import.meta.url));
const stored = JSON.parse(readFileSync(join(STATE, "stored.json"), "utf8"));
const { unwatched, completed, moving, awaited } = stored.jobs;
const BUSY = stored.busy.project;
/** This prompt has letters beyond ASCII, and replaces a stored prompt. */
const ACCENTED = "Die GRÖSSE der Übersicht";
/** The stored limit plus one. A project that has used up the stored limit has one request left. */
const CREATE_LIMIT = stored.limits.create + 1;

const receiver = useServer(new Receiver());
const jobs = useJobs("state", async () => {
  const state = decompressState();
  await moveTimestamps(state);
  await runSql(state, [["UPDATE job SET line = ? WHERE id = ?", ACCENTED, unwatched.id]], PROJECT);
  return {
    state,
    projects: [PROJECT, BUSY],
    vars: {
      CREATE_LIMIT_PER_HOUR: String(CREATE_LIMIT),
      MESSAGE_LIMIT_PER_HOUR: String(stored.limits.message),
      ANALYTICS_LIMIT_PER_HOUR: String(stored.limits.analytics),
      ...webhookVars(receiver),
    },
    // The state was stored with this form of repositories.
    upstream: { profile: "published" },
    prepare: addStoredJobs,
  };
});
/** The simulator's counters at the start of a test. */
let earlier;

beforeEach(async () => {
  earlier = await jobs.upstream.counters();
});

function decompressState() {
  const state = mkdtempSync(join(tmpdir(), "quillgate-state-"));
  for (const file of readdirSync(STATE, { recursive: true })) {
    if (!file.endsWith(".gz")) continue;
    const decompressed = join(state, "v3", "do", file.slice(0, -".gz".length));
    mkdirSync(dirname(decompressed), { recursive: true });
    writeFileSync(decompressed, gunzipSync(readFileSync(join(STATE, file))));
  }
  return state;
}

/** Moves stored timestamps so that the state is as old as when the gateway was killed. */
async function moveTimestamps(state) {
  const age = Date.now() - stored.madeAt;
  const move = (table, column) => [`UPDATE ${table} SET ${column} = ${column} + ?`, age];
  const budgets = [move("reservation", "at"), move("claim", "until"), move("closed", "until")];
  const pages = [move("page", "fetched"), move("page", "fresh_until")];
  await runSql(state, [...budgets, ...pages], "organisation", "ORG_GATE");
  const redirect = (table, column) => [
    ...[`UPDATE ${table} SET ${column} = replace(${column}, ?, ?)`, stored.origin, receiver.url],
  ];
  const webhooks = [redirect("job", "webhook"), redirect("outbox", "url")];
  const due = ["UPDATE outbox SET due = ?", Date.now()];
  for (const project of [PROJECT, BUSY]) {
    await runSql(state, [...budgets, move("idempotency", "at"), ...webhooks, due], project);
  }
}

/** Adds the stored jobs to the simulator. The job `awaited` has completed since the crash. */
async function addStoredJobs(upstream) {
  for (const job of Object.values(stored.jobs)) {
    const { createdAt, status, prLink } = lastState(job);
    await upstream.addJob(job.id, { projectId: PROJECT, createdAt: Date.parse(createdAt) });
    await upstream.setJob(job.id, { status, prLink });
  }
  await upstream.setJob(awaited.id, { status: "completed" });
}

const lastState = ({ events }) => JSON.parse(events.at(-1)[1]);
const eventsOf = ({ events }) => events.map(({ lastEventId, data }) => [lastEventId, data]);
const withoutCheckedAt = ({ checkedAt, ...job }) => job;

/** Returns `[id, data]` of the event that reports `status` after the stored events of a job. */
function nextEvent(id, job, status) {
  return [id, JSON.stringify({ ...lastState(job), status })];
}

/** Sends a request that creates a job, or a follow-up to the job `id`. Returns the response. */
function send({ key, prompt = "x", id, headers = [] }) {
  const idempotency = key === undefined ? [] : keyed(key);
  return jobs.send(prompt, { id, headers: [...idempotency, ...headers] });
}

const keyOf = (path) =>
  deriveKeys({ project: PROJECT, url: receiver.url + path }, WEBHOOK_SECRET)[0];

/** Returns the number of requests left, from a response's `RateLimit` field. */
const remaining = (answer) => Number(/;r=(\d+)/.exec(answer.header("ratelimit"))[1]);

/** Returns the number of upstream requests of an operation since the test started. */
async function requestsSince(operation) {
  const { byOperation } = await jobs.upstream.counters();
  return (byOperation[operation] ?? 0) - (earlier.byOperation[operation] ?? 0);
}

const creations = () => requestsSince("agentJobs.create");
const viewRequests = () => requestsSince("analytics.views");

describe("before the first request", () => {
  test("delivers a stored pending webhook as the same message before any request", async () => {
    const { id, text, path } = stored.webhook;
    const delivery = await receiver.next((received) => received.path === path);
    const { project, webhookUrl, ...message } = delivery.json;
    assert.deepEqual([delivery.headers["webhook-id"], message], [id, JSON.parse(text)]);
    assert.deepEqual([project, webhookUrl], [PROJECT, receiver.url + path]);
    assert.equal(signatureProblem(delivery, keyOf(path)), undefined);
  });

  test("polls a stored job with a webhook and delivers its completion before any request", async () => {
    const delivery = await receiver.next(({ path }) => path === "/awaited");
    assert.equal(signatureProblem(delivery, keyOf("/awaited")), undefined);
    assert.equal(delivery.json.type, "agent_job.completed");
    assert.deepEqual(delivery.json.data, { ...lastState(awaited), status: "completed" });
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0);
    assert.equal(receiver.deliveries.length, 2, "each message is delivered once");
  });
});

describe("stored jobs", () => {
  test("lists stored jobs with the same fields in the same order", async () => {
    const json = await jobs.list();
    const changes = new Map([
      [awaited.id, { status: "completed" }],
      [unwatched.id, { prompt: ACCENTED }],
    ]);
    const expected = stored.listed.jobs.map((job) => ({ ...job, ...changes.get(job.id) }));
    assert.deepEqual(json.jobs.map(withoutCheckedAt), expected.map(withoutCheckedAt));
    assert.equal(json.nextCursor, null);
    const checkedAt = (list) => list.find(({ id }) => id === completed.id).checkedAt;
    assert.equal(checkedAt(json.jobs), checkedAt(expected), "a finished job is not polled");
  });

  test("returns a stored job's record without follow-ups and without change times", async () => {
    const { json } = await jobs.get(jobs.path(completed.id, { rest: "/record" }));
    const { id, prompt } = stored.listed.jobs.find(({ id }) => id === completed.id);
    assert.deepEqual([json.job.id, json.prompt, json.messages], [id, prompt, []]);
    const seen = completed.events.map(([, data]) => JSON.parse(data));
    const changes = seen.map(({ status, prLink }) => ({ at: null, status, prLink }));
    assert.deepEqual(json.changes, changes);
  });

  test("polls a watched stored job and appends events to the stored ones", async () => {
    const all = await jobs.watchingAll();
    const stream = jobs.watch(moving.id, { lastEventId: "2" });
    await stream.event();
    await jobs.untilReads(moving.id, 2);
    for (const status of ["reviewing", "completed"]) {
      await jobs.change(moving.id, { status }, stream);
    }
    assert.equal(await stream.ended, "clean");
    const isLast = (event) => isNow("completed")(event) && event.data.includes(moving.id);
    assert.ok(Number((await all.event(isLast)).lastEventId) >= 2);
    all.leave();
    assert.deepEqual(eventsOf(stream), [
      moving.events.at(-1),
      nextEvent("4", moving, "reviewing"),
      nextEvent("5", moving, "completed"),
    ]);
  });

  test("sends a follow-up to a stored job within the stored budget", async () => {
    const answer = await send({ id: unwatched.id });
    assert.equal(answer.status, 200, answer.text);
    const { left } = stored.budgets.project["send-message"];
    assert.equal(remaining(answer), left - 1);
  });
});

describe("a stored idempotency key", () => {
  for (const name of ["done", "refused"]) {
    test(`replays the stored response of an idempotency key (${name})`, async () => {
      const { key, prompt, status, text } = stored.keys[name];
      for (const headers of [[], [["Idempotency-Retry", "force"]]]) {
        const answer = await send({ key, prompt, headers });
        assert.deepEqual([answer.status, answer.text], [status, text]);
        assert.equal(answer.header("idempotent-replayed"), "true");
      }
      assertProblem(await send({ key, prompt: "another" }), 422, "idempotency-key-reused");
      assert.equal(await creations(), 0);
    });
  }

  test("reports an unknown outcome for a stored key without a response", async () => {
    for (const { key, prompt } of [stored.keys.lost, stored.keys.running]) {
      assertProblem(await send({ key, prompt }), 409, "outcome-unknown");
      assertProblem(await send({ key, prompt: "another" }), 422, "idempotency-key-reused");
    }
    assert.equal(await creations(), 0);
  });
});

test("counts every stored reservation, including the interrupted creation's", async () => {
  const used = stored.limits.create - stored.budgets.project["create-job"].left;
  const { left, ...rest } = (await jobs.health()).budgets["create-job"];
  assert.deepEqual(rest, { limit: CREATE_LIMIT, blockedUntil: null });
  // `used` excludes the creation that the crash interrupted.
  assert.equal(left, CREATE_LIMIT - used - 1);
  const answer = await send({});
  assert.deepEqual([answer.status, remaining(answer)], [201, left - 1]);
});

test("serves a stored fresh page from the cache", async () => {
  const { target, text, etag } = stored.views.fresh;
  const answer = await jobs.gate.get(target, withoutQuota(jobs.gate));
  assertViews(answer, "hit; ttl=+");
  assert.deepEqual([answer.text, answer.header("etag")], [text, etag]);
  assert.equal((await jobs.get(target, [["If-None-Match", etag]])).status, 304);
  assert.equal(await viewRequests(), 0);
});
