/**
 * Receivers of webhooks: which there may be, that each has a key of its own, and that each is told
 * of every end. Every test does what an attacker, a mistake or a fault does.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { unstable_readConfig as readConfig } from "wrangler";
import { deriveKeys } from "../../scripts/webhook_key.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { signatureProblem, startReceiver, verify } from "../harness/receiver.mjs";
import { configWith } from "./config.mjs";
import { assertInvalid, PROJECT } from "./gate.mjs";
import { OTHER_PROJECT, startJobs } from "./jobs.mjs";

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const CLOCK = new URL("fixtures/clock_worker.mjs", import.meta.url).pathname;
const QUARTER_HOUR_MS = 15 * 60_000;
/** For a retry, or a poll of a job that nobody watches. */
const PATIENCE_MS = 60_000;

let jobs;
/** A gateway whose operator has listed no hosts. */
let closed;
/** `kept` and `other` stay listed, `dropped` does not. */
const receivers = {};

before(async () => {
  for (const name of ["kept", "other", "dropped", "own"]) receivers[name] = await startReceiver();
  const { kept, other, dropped, own } = receivers;
  [jobs, closed] = await Promise.all([
    startJobs("receivers", {
      vars: {
        WEBHOOK_SECRET: SECRET,
        WEBHOOK_HOSTS: [kept, other, dropped].map(({ host }) => host).join(","),
      },
    }),
    startJobs("receivers-closed", {
      vars: { WEBHOOK_SECRET: SECRET, WEBHOOK_URL: `${own.url}/own?token=hidden-token` },
    }),
  ]);
});
after(async () => {
  await Promise.all([jobs?.stop(), closed?.stop()]);
  for (const receiver of Object.values(receivers)) await receiver.stop();
});

const hook = (url) => [["Webhook-Url", url]];
const keyOf = (url, project = PROJECT) => deriveKeys({ project, url }, SECRET)[0];
const at = (path) => (delivery) => delivery.path === path;

/** Ends a job, seen by a watcher. */
async function end(id, { project, status = "completed" } = {}) {
  const stream = await jobs.watching(id, { project });
  await jobs.upstream.setJob(id, { status });
  await stream.ended;
}

/** Creates a job that tells its end at this address, and ends it; gives what was delivered. */
async function deliver(receiver, path, { project } = {}) {
  const headers = hook(receiver.url + path);
  const { id } = await jobs.create("tell me", { project, headers });
  await end(id, { project });
  return await receiver.next(
    (delivery) => at(path)(delivery) && delivery.json.data.id === id,
    PATIENCE_MS,
  );
}

/** The gateway is killed, and what its project has stored of its jobs is older when it is back. */
async function age(milliseconds, project = PROJECT) {
  await jobs.restart("kill", async () => {
    const { config, dispose } = configWith({ path: CLOCK });
    const clock = await startGateway({ config, state: jobs.state });
    try {
      const timestamps = ["created", "missing_since"].map((column) => ["job", column]);
      const objects = [["PROJECT_GATE", project]];
      const change = { objects, milliseconds: -milliseconds, from: "-", to: "-", timestamps };
      const body = JSON.stringify(change);
      const response = await fetch(`${clock.url}/v1/clock`, { method: "POST", body });
      assert.equal(await response.text(), "moved");
    } finally {
      await clock.stop();
      dispose();
    }
  });
}

/** Makes the platform answer 404 about a job, until its faults are cleared. */
function lose(id) {
  const fault = { kind: "status", status: 404 };
  return jobs.upstream.fault({ operation: "agentJobs.get", target: id, times: 0, fault });
}

/** Waits until the log says something. */
async function logged(text) {
  while (!jobs.gate.gateway.log().includes(text)) await new Promise(setImmediate);
}

/** Asks for a job, as who waits for it does, until it is known to be missing. */
async function untilMissing(id) {
  for (;;) {
    const { status } = await jobs.get(jobs.path(id), [["Prefer", "wait=0"]]);
    if (status === 404) return;
    assert.equal(status, 200);
  }
}

describe("a receiver in the gateway's own zone", () => {
  test("is reached as anybody reaches it: the runtime fetches from the public internet", async () => {
    const source = `
      import { DurableObject } from "cloudflare:workers";
      export class ProjectGate extends DurableObject {}
      export class OrgGate extends DurableObject {}
      export class Session extends DurableObject {}
      export default { fetch: () => Response.json(Cloudflare.compatibilityFlags) };`;
    const { config, dispose } = configWith({ source });
    const worker = await startGateway({ config });
    try {
      const flags = await (await fetch(`${worker.url}/healthz`)).json();
      assert.equal(flags.global_fetch_strictly_public, true);
    } finally {
      await worker.stop();
      dispose();
    }
  });

  test("cannot be named by a caller unless the operator lists hosts", async () => {
    const { authorization } = closed;
    for (const url of [
      "https://origin.quillgate.example/internal",
      "https://93.184.215.14/x",
      `${receivers.own.url}/own?token=hidden-token`,
      "x",
    ]) {
      const options = { headers: hook(url), authorization };
      const answer = await closed.gate.post(closed.path(), { prompt: "forbidden" }, options);
      assertInvalid(answer, "Webhook-Url", "webhook-hosts");
      assert.ok(!answer.text.includes(url.split("://")[1] ?? "hidden"), "it is not repeated");
    }
    assert.deepEqual(await closed.upstream.jobs(), []);
  });

  test("is the operator's own to name", async () => {
    const { id } = await closed.create("tell the operator");
    const stream = await closed.watching(id);
    await closed.upstream.setJob(id, { status: "failed" });
    await stream.ended;
    const url = `${receivers.own.url}/own?token=hidden-token`;
    const delivery = await receivers.own.next(undefined, PATIENCE_MS);
    assert.equal(delivery.json.type, "agent_job.failed");
    assert.equal(delivery.json.webhookUrl, url);
    assert.equal(signatureProblem(delivery, keyOf(url)), undefined);
  });
});

describe("a receiver's key", () => {
  test("verifies nothing that another receiver is told", async () => {
    const { kept, other } = receivers;
    const deliveries = [
      { url: `${kept.url}/a`, delivery: await deliver(kept, "/a") },
      { url: `${kept.url}/b`, delivery: await deliver(kept, "/b") },
      { url: `${other.url}/a`, delivery: await deliver(other, "/a") },
    ];
    for (const { url, delivery } of deliveries) {
      for (const one of deliveries) {
        assert.equal(verify(delivery, keyOf(one.url)), one.url === url, `${url} with ${one.url}`);
      }
      assert.equal(verify(delivery, SECRET), false, "the secret itself signs nothing");
      assert.equal(delivery.json.webhookUrl, url);
    }
  });

  test("verifies nothing of another project, whose caller names the same address", async () => {
    const url = `${receivers.kept.url}/shared`;
    for (const project of [PROJECT, OTHER_PROJECT]) {
      const delivery = await deliver(receivers.kept, "/shared", { project });
      assert.equal(delivery.json.project, project);
      for (const one of [PROJECT, OTHER_PROJECT]) {
        assert.equal(verify(delivery, keyOf(url, one)), one === project, `${project} with ${one}`);
      }
    }
  });
});

describe("a job's end", () => {
  test("is told when the answer to its creation says it already", async () => {
    const body = {
      id: "ended-at-once",
      status: "completed",
      createdAt: "2026-01-01T00:00:00.000Z",
    };
    const fault = { kind: "json", status: 201, body };
    await jobs.upstream.fault({ operation: "agentJobs.create", fault });
    const headers = hook(`${receivers.kept.url}/at-once`);
    assert.equal((await jobs.create("at once", { headers })).status, "completed");
    const delivery = await receivers.kept.next(at("/at-once"), PATIENCE_MS);
    assert.equal(delivery.json.type, "agent_job.completed");
    assert.deepEqual(delivery.json.data, body);
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0);
    assert.equal(receivers.kept.deliveries.filter(at("/at-once")).length, 1);
  });

  test("is told though the platform did not know the job for a while", async () => {
    const headers = hook(`${receivers.kept.url}/found-again`);
    const { id } = await jobs.create("be found again", { headers });
    await lose(id);
    // Far from new, so that a single 404 could be taken for the end.
    await age(2 * QUARTER_HOUR_MS);
    await untilMissing(id);
    await jobs.upstream.clearFaults();
    const stream = await jobs.watching(id);
    await jobs.untilReads(id, 1);
    stream.leave();
    // A 404 before the last success counts no more, however long ago it was.
    await lose(id);
    await age(2 * QUARTER_HOUR_MS);
    await untilMissing(id);
    await jobs.upstream.clearFaults();
    await end(id);
    const delivery = await receivers.kept.next(at("/found-again"), PATIENCE_MS);
    assert.equal(delivery.json.type, "agent_job.completed");
  });

  test("that nobody will learn is told as such, once and at last", async () => {
    const url = `${receivers.kept.url}/lost`;
    const { id } = await jobs.create("get lost", { headers: hook(url) });
    const { projectId, prompt, messages, origin, reads, ...job } = await jobs.upstream.job(id);
    await lose(id);
    await age(QUARTER_HOUR_MS);
    await untilMissing(id);
    assert.equal(receivers.kept.deliveries.filter(at("/lost")).length, 0);
    await age(QUARTER_HOUR_MS);
    await untilMissing(id);
    const delivery = await receivers.kept.next(at("/lost"), PATIENCE_MS);
    assert.equal(delivery.json.type, "agent_job.not_found");
    assert.deepEqual(delivery.json.data, job, "as it was last seen");
    assert.equal(signatureProblem(delivery, keyOf(url)), undefined);
    await logged(`{"operator":"job ${id} has been unknown`);
    await jobs.upstream.clearFaults();
    await end(id);
    await deliver(receivers.kept, "/after-the-lost");
    assert.equal(receivers.kept.deliveries.filter(at("/lost")).length, 1);
  });
});

test("the gateway's configuration keeps addresses out of the runtime's own log", () => {
  const { observability } = readConfig({
    config: new URL("../../worker/wrangler.toml", import.meta.url).pathname,
  });
  assert.deepEqual(observability.logs, { enabled: true, invocation_logs: false });
});

test("a webhook is dropped when its host is listed no more", async () => {
  const { dropped, kept } = receivers;
  dropped.answerAlways(500);
  const headers = hook(`${dropped.url}/hidden-address`);
  const { id } = await jobs.create("tell nobody", { headers });
  await end(id);
  const first = await dropped.next(undefined, PATIENCE_MS);
  jobs.vars = { ...jobs.vars, WEBHOOK_HOSTS: kept.host };
  // What waits is due at once.
  await age(0);
  await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0);
  await logged(`{"operator":"webhook ${first.headers["webhook-id"]} was dropped`);
  await deliver(kept, "/after-the-dropped");
  assert.equal(dropped.deliveries.length, 1);
});

test("nothing secret is said", async () => {
  await Promise.all([jobs.assertDiscreet(), closed.assertDiscreet()]);
  const log = jobs.gate.gateway.log() + closed.gate.gateway.log();
  for (const hidden of ["hidden-address", "hidden-token", SECRET.replace("whsec_", "")]) {
    assert.ok(!log.includes(hidden), hidden);
  }
});
