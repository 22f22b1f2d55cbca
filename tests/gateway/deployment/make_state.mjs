/**
 * A script that recreates the folder `state/`. The script runs and kills the gateway of another
 * checkout, which must be built. It copies the gateway's storage to the folder, and compresses each
 * file with gzip. It also writes `stored.json`, which describes the state that callers saw.
 *
 * Usage: node tests/gateway/deployment/make_state.mjs <checkout>
 */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { startReceiver } from "../../harness/receiver.mjs";
import { startJobs } from "../jobs_gateway.mjs";
import { PROJECT } from "../recorded_gateway.mjs";

const FIXTURE = join(dirname(fileURLToPath(import.meta.url)), "state");
/** A project that has spent its budget for creations. The upstream rejects its follow-ups. */
const BUSY = "busy-docs";
const CREATE = "agentJobs.create";
const FOLLOW_UP = "agentJobs.sendMessage";
const LIMITS = { create: 12, message: 4, analytics: 5 };
const VARS = {
  CREATE_LIMIT_PER_HOUR: String(LIMITS.create),
  MESSAGE_LIMIT_PER_HOUR: String(LIMITS.message),
  ANALYTICS_LIMIT_PER_HOUR: String(LIMITS.analytics),
  ANALYTICS_FRESH_SECONDS: "1",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  UPSTREAM_TIMEOUT_SECONDS: "30",
};
/**
 * The `Retry-After` of the upstream's 429. The stored release blocks a policy for at most a day.
 */
const DAY_SECONDS = 86_400;
/**
 * Maximum wait for evictions. workerd evicts an object and closes the object's database 10 s after
 * the last request.
 */
const EVICTION_PATIENCE_MS = 60_000;

const [checkout] = process.argv.slice(2);
assert.ok(checkout, "pass the folder of a built checkout");
const receiver = await startReceiver();
receiver.answerAlways(500);
const jobs = await startJobs("made-state", {
  projects: [PROJECT, BUSY],
  config: join(resolve(checkout), "worker", "wrangler.toml"),
  vars: { ...VARS, WEBHOOK_HOSTS: receiver.host },
});
try {
  const stored = await store();
  rmSync(FIXTURE, { recursive: true, force: true });
  for (const file of stateFiles()) compressFile(file);
  writeFileSync(join(FIXTURE, "stored.json"), `${JSON.stringify(stored, undefined, 2)}\n`);
} finally {
  await jobs.stop();
  await receiver.stop();
}

/**
 * Stores jobs, keys, budgets and page views, and kills the gateway during a creation. Returns the
 * content of `stored.json`.
 */
async function store() {
  const stored = {
    jobs: await storeJobs(),
    keys: await storeKeys(),
    busy: await storeBusyProject(),
    views: await storeViews(),
  };
  const { headers, text, path } = await receiver.next();
  const webhook = { id: headers["webhook-id"], text, path };

  // Frequent polls would keep the objects in memory. With this longer interval, workerd evicts the
  // objects, and SQLite merges their write-ahead logs.
  jobs.vars = { ...jobs.vars, JOB_POLL_SECONDS: "300" };
  await jobs.restart("kill");
  const { json: listed } = await jobs.get(`/v2/agent/${PROJECT}/jobs`);
  const { organization } = (await jobs.get("/healthz?deep")).json;
  const budgets = {
    project: (await jobs.health()).budgets,
    busy: (await jobs.health(BUSY)).budgets,
    organization: organization.budgets,
  };
  await untilEvicted();
  const key = "left-running";
  await jobs.upstream.hold({ operation: CREATE, process: true });
  const creation = send({ key, prompt: "Left running" });
  await jobs.upstream.untilHeld(1);
  await jobs.gate.gateway.kill();
  await creation;
  stored.keys.running = { key, prompt: "Left running" };
  const origin = receiver.url;
  return { madeAt: Date.now(), limits: LIMITS, budgets, webhook, origin, listed, ...stored };
}

/** Stores jobs in several states. Returns each job's id, and its events as `[id, data]`. */
async function storeJobs() {
  const unwatched = await jobs.create("Write the guide");
  await jobs.followUp(unwatched.id);
  const completed = await jobs.create("Fix the links", { authorization: bearer("bob") });
  const prLink = "https://github.com/acme/docs/pull/42";
  const moving = await jobs.create("Move the pages");
  const webhook = (path) => ({ headers: [["Webhook-Url", receiver.url + path]] });
  const awaited = await jobs.create("Tell me the end", {
    ...webhook("/awaited"),
    authorization: bearer("carol"),
  });
  const ended = await jobs.create("Tell me this end", webhook("/ended"));
  const elsewhere = await jobs.directly("From elsewhere");
  return {
    unwatched: withFirstEvent(unwatched),
    completed: await changeWhileWatched(completed, [{ status: "completed", prLink }]),
    moving: await changeWhileWatched(moving, [{ status: "planning" }, { status: "writing" }]),
    awaited: withFirstEvent(awaited),
    ended: await changeWhileWatched(ended, [{ status: "failed" }]),
    elsewhere: await changeWhileWatched(elsewhere, [{ status: "planning" }]),
  };
}

function withFirstEvent(job) {
  return { id: job.id, events: [["1", JSON.stringify(job)]] };
}

async function changeWhileWatched({ id }, changes) {
  const stream = await jobs.watching(id);
  for (const change of changes) {
    await jobs.upstream.setJob(id, change);
    await stream.event(({ data }) => JSON.parse(data).status === change.status);
  }
  stream.leave();
  return { id, events: stream.events.map(({ lastEventId, data }) => [lastEventId, data]) };
}

/**
 * Stores idempotency keys with a success, an error and an unknown outcome. Returns the keys with
 * their prompts and known responses.
 */
async function storeKeys() {
  const prompt = "Only once";
  const done = await send({ key: "done", prompt });
  await jobs.upstream.fault({
    operation: CREATE,
    fault: { kind: "json", status: 422, body: { error: "No such luck" } },
  });
  const refused = await send({ key: "refused", prompt });
  await jobs.upstream.fault({ operation: CREATE, fault: { kind: "reset" } });
  const lost = await send({ key: "lost", prompt });
  assert.deepEqual([done.status, refused.status, lost.status], [201, 422, 502]);
  const answer = ({ status, text }) => ({ status, text });
  return {
    done: { key: "done", prompt, ...answer(done) },
    refused: { key: "refused", prompt, ...answer(refused) },
    lost: { key: "lost", prompt },
  };
}

/**
 * Spends the budget for creations and blocks the budget for follow-ups. Returns the project and one
 * job's id. In the stored release, a creation that the spent budget rejects leaves a row in the
 * table `claim`.
 */
async function storeBusyProject() {
  const project = BUSY;
  const created = [];
  while (created.length < LIMITS.create) {
    created.push(await jobs.create("Keep busy", { project, authorization: bearer("bob") }));
  }
  const waiting = await send({ prompt: "My turn", project, authorization: bearer("carol") });
  const headers = { "retry-after": String(DAY_SECONDS) };
  const fault = { kind: "status", status: 429, headers };
  await jobs.upstream.fault({ operation: FOLLOW_UP, fault });
  const [{ id }] = created;
  const followUp = await send({ prompt: "And more", project, id });
  assert.deepEqual([waiting.status, followUp.status], [429, 429]);
  return { project, job: id };
}

/**
 * Caches two pages of views, and returns them with their targets. The first stays fresh for a day,
 * and the second becomes stale after a second.
 */
async function storeViews() {
  const read = async (dateTo) => {
    const target = `/v1/analytics/${PROJECT}/views?dateFrom=2024-01-01&dateTo=${dateTo}`;
    const answer = await jobs.get(target);
    assert.equal(answer.status, 200, answer.text);
    return { target, text: answer.text, etag: answer.header("etag") };
  };
  return { fresh: await read("2024-02-01"), stale: await read("2100-01-01") };
}

function bearer(sub) {
  return `Bearer ${jobs.gate.token({ sub, projects: jobs.projects })}`;
}

/** Sends a request that creates a job, or a follow-up to the job `id`. Returns the response. */
function send({ key, prompt, project, id, authorization = jobs.authorization }) {
  const target = jobs.path(id, { project, rest: id === undefined ? "" : "/message" });
  const headers = key === undefined ? [] : [["Idempotency-Key", key]];
  return jobs.gate.post(target, { prompt }, { headers, authorization });
}

/**
 * Returns the database files of the Durable Objects. Omits the `-shm` files that SQLite recreates.
 */
function stateFiles() {
  const all = readdirSync(join(jobs.state, "v3", "do"), { recursive: true });
  return all.filter((file) => /\.sqlite(-wal)?$/.test(file));
}

/** Waits until each object that stores jobs or page views has closed its database. */
async function untilEvicted() {
  const deadline = performance.now() + EVICTION_PATIENCE_MS;
  const isOpen = (file) => file.endsWith("-wal") && !file.includes("metadata");
  while (stateFiles().some(isOpen)) {
    assert.ok(performance.now() < deadline, "the objects were not evicted");
    await sleep(100);
  }
}

function compressFile(file) {
  const compressed = join(FIXTURE, `${file}.gz`);
  mkdirSync(dirname(compressed), { recursive: true });
  const content = readFileSync(join(jobs.state, "v3", "do", file));
  writeFileSync(compressed, gzipSync(content, { level: 9 }));
}
