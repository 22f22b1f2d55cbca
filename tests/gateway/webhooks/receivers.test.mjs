import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { unstable_readConfig as readConfig } from "wrangler";
import { ROOT } from "../../../scripts/versions.mjs";
import { deriveKeys } from "../../../scripts/webhook_key.mjs";
import { startGateway } from "../../harness/gateway.mjs";
import { Receiver, signatureProblem, verify } from "../../harness/receiver.mjs";
import {
  CLOCK_RATE,
  hook,
  OTHER_PROJECT,
  runSql,
  useJobs,
  WEBHOOK_SECRET,
  webhookVars,
} from "../jobs_gateway.mjs";
import { assertInvalid, PROJECT, useServer } from "../recorded_gateway.mjs";
import { configWith } from "../wrangler_config.mjs";

const QUARTER_HOUR_MS = 15 * 60_000;
/** The gateway's timeout for a receiver, by its own clock. */
const RECEIVER_TIMEOUT_MS = 20_000;
/** Only one test uses this project, so that no other test causes its alarms. */
const HANGING_PROJECT = "hanging-receivers";

const receivers = Object.fromEntries(
  ["kept", "other", "dropped", "own"].map((name) => [name, useServer(new Receiver())]),
);
const jobs = useJobs("receivers", () => ({
  projects: [PROJECT, OTHER_PROJECT, HANGING_PROJECT],
  vars: webhookVars(receivers.kept, receivers.other, receivers.dropped),
}));
/** The gateway rejects these although their hosts are listed. Native tests cover more forms. */
const REJECTED = [
  ["a scheme other than https", "http://hooks.example/x"],
  ["a metadata service", "http://169.254.169.254/latest/"],
  ["a local name", "https://a.internal/x"],
  ["a URL with credentials", "https://a:b@hooks.example/x"],
];
/** This gateway lists many hosts, including some that other rules always reject. */
const open = useJobs("receivers-open", {
  vars: { WEBHOOK_SECRET, WEBHOOK_HOSTS: "hooks.example,169.254.169.254,a.internal" },
});
/** A gateway without `WEBHOOK_HOSTS`. */
const closed = useJobs("receivers-closed", () => ({
  vars: { WEBHOOK_SECRET, WEBHOOK_URL: `${receivers.own.url}/own?token=hidden-token` },
}));

const keyOf = (url) => deriveKeys({ project: PROJECT, url }, WEBHOOK_SECRET)[0];
/** Verifies timestamps with the clock of the gateways, which agree to within seconds. */
const clock = () => ({ now: jobs.gate.now() / 1000 });
const at = (path) => (delivery) => delivery.path === path;

async function finishHooked(url, project) {
  const { id } = await jobs.create("notify me", { project, headers: hook(url) });
  await jobs.finish(id, { project });
  return id;
}

async function deliver(receiver, path) {
  const id = await finishHooked(receiver.url + path);
  return await receiver.next((delivery) => at(path)(delivery) && delivery.json.data.id === id);
}

/** Restarts the gateway with older jobs and with pending webhooks that are due immediately. */
async function ageJobs(milliseconds) {
  const age = "UPDATE job SET created_at = created_at - ?1, missing_since = missing_since - ?1";
  const statements = [[age, milliseconds], ["UPDATE outbox SET due = 0"]];
  await jobs.restart("kill", () => runSql(jobs.state, statements, PROJECT));
}

function hideUpstream(id) {
  const fault = { kind: "status", status: 404 };
  return jobs.upstream.fault({ operation: "agentJobs.get", target: id, times: 0, fault });
}

async function untilLogged(expected) {
  while (!jobs.gate.gateway.log().includes(expected)) await sleep(5);
}

async function untilMissing(id) {
  for (;;) {
    const { status } = await jobs.get(jobs.path(id), [["Prefer", "wait=0"]]);
    if (status === 404) return;
    assert.equal(status, 200);
  }
}

test("sends a receiver one webhook at a time, and delays no other receiver", async (context) => {
  const project = HANGING_PROJECT;
  const { kept, other } = receivers;
  const isHung = ({ path }) => path.startsWith("/hang/");
  for (const path of ["/hang/1", "/hang/2", "/hang/3"]) {
    kept.answer({ hang: true });
    await finishHooked(kept.url + path, project);
  }
  const started = jobs.gate.now();
  const { alarms: before } = await jobs.health(project);
  await finishHooked(`${other.url}/healthy`, project);
  const healthy = await other.next(at("/healthy"));
  const attempts = [];
  while (attempts.length < 3) attempts.push(await kept.next(isHung));
  for (const [index, { at: next }] of attempts.slice(1).entries()) {
    const wait = (next - attempts[index].at) * CLOCK_RATE;
    assert.ok(wait > RECEIVER_TIMEOUT_MS / 2, `${wait} ms between two webhooks`);
  }
  assert.ok(healthy.at < attempts[2].at, "the other receiver waits for no timeout");
  // An alarm in the past would fire continuously while a delivery is in flight.
  const seconds = (jobs.gate.now() - started) / 1000;
  const alarms = (await jobs.health(project)).alarms - before;
  context.diagnostic(`${alarms} alarms in ${seconds.toFixed(1)} s`);
  assert.ok(alarms <= seconds, `${alarms} alarms in ${seconds.toFixed(1)} s`);
});

describe("a receiver in the gateway's own zone", () => {
  test("fetches webhook receivers through the public internet, not the Worker's own zone", async () => {
    const source = `
      import { DurableObject } from "cloudflare:workers";
      export class ProjectGate extends DurableObject {}
      export class OrgGate extends DurableObject {}
      export class Session extends DurableObject {}
      export default { fetch: () => Response.json(Cloudflare.compatibilityFlags) };`;
    const worker = await startGateway({ config: configWith({ source }) });
    try {
      const flags = await (await fetch(`${worker.url}/healthz`)).json();
      assert.equal(flags.global_fetch_strictly_public, true);
    } finally {
      await worker.stop();
    }
  });
});

describe("rejected webhook addresses", { concurrency: 1 }, () => {
  /** Asserts that the gateway rejects a creation with this address and creates no job. */
  async function assertRejected(fixture, url, rule = "webhook-url") {
    const prompt = randomBytes(8).toString("hex");
    const answer = await fixture.send(prompt, { headers: hook(url) });
    assertInvalid(answer, "Webhook-Url", rule);
    const created = (await fixture.upstream.jobs()).map((job) => job.prompt);
    assert.ok(!created.includes(prompt), "a job was created");
    const address = url.split("://")[1] ?? "hidden";
    assert.ok(!answer.raw.includes(address), "the response repeats the address");
  }

  for (const [what, url] of [
    ["a host that is not listed", "https://hooks.example/x"],
    ["a loopback port that is not listed", "http://127.0.0.1:1/x"],
    ["a loopback name that is not listed", "http://localhost:1/x"],
  ]) {
    test(`rejects ${what} as Webhook-Url`, () => assertRejected(jobs, url));
  }

  for (const [what, url] of REJECTED) {
    test(`rejects ${what} as Webhook-Url, even if its host is listed`, () =>
      assertRejected(open, url));
  }

  test("rejects a caller's Webhook-Url when the operator lists no hosts", async () => {
    for (const url of [
      "https://origin.quillgate.example/internal",
      "https://93.184.215.14/x",
      `${receivers.own.url}/own?token=hidden-token`,
      "x",
    ]) {
      await assertRejected(closed, url, "webhook-hosts");
    }
    assert.deepEqual(await closed.upstream.jobs(), []);
  });
});

test("signs webhooks with a key that verifies no other receiver's webhooks", async () => {
  const { kept, other } = receivers;
  const deliveries = [
    { url: `${kept.url}/a`, delivery: await deliver(kept, "/a") },
    { url: `${kept.url}/b`, delivery: await deliver(kept, "/b") },
    { url: `${other.url}/a`, delivery: await deliver(other, "/a") },
  ];
  for (const { url, delivery } of deliveries) {
    for (const one of deliveries) {
      const isValid = verify(delivery, keyOf(one.url), clock());
      assert.equal(isValid, one.url === url, `${url} with ${one.url}`);
    }
    const isSecretValid = verify(delivery, WEBHOOK_SECRET, clock());
    assert.equal(isSecretValid, false, "the secret itself verifies the webhook");
    assert.equal(delivery.json.webhookUrl, url);
  }
});

describe("the webhook of a finished job", () => {
  test("sends a webhook for a job that is already finished when it is created", async () => {
    const body = {
      id: "finished-at-creation",
      status: "completed",
      createdAt: "2026-01-01T00:00:00.000Z",
    };
    const fault = { kind: "json", status: 201, body };
    await jobs.upstream.fault({ operation: "agentJobs.create", fault });
    const path = "/finished-at-creation";
    const headers = hook(receivers.kept.url + path);
    assert.equal((await jobs.create("finish early", { headers })).status, "completed");
    const delivery = await receivers.kept.next(at(path));
    assert.equal(delivery.json.type, "agent_job.completed");
    assert.deepEqual(delivery.json.data, body);
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0);
    assert.equal(receivers.kept.deliveries.filter(at(path)).length, 1);
  });

  test("sends a final not_found webhook once for a job that stays unknown upstream", async () => {
    const url = `${receivers.kept.url}/lost`;
    const { id } = await jobs.create("get lost", { headers: hook(url) });
    const job = await jobs.upstreamJob(id);
    await hideUpstream(id);
    await ageJobs(QUARTER_HOUR_MS);
    await untilMissing(id);
    assert.equal(receivers.kept.deliveries.filter(at("/lost")).length, 0);
    await ageJobs(QUARTER_HOUR_MS);
    await untilMissing(id);
    const delivery = await receivers.kept.next(at("/lost"));
    assert.equal(delivery.json.type, "agent_job.not_found");
    assert.deepEqual(delivery.json.data, job, "the last known state");
    assert.equal(signatureProblem(delivery, keyOf(url), clock()), undefined);
    await untilLogged(`{"operator":"job ${id} has been unknown`);
    await jobs.upstream.clearFaults();
    await jobs.finish(id);
    await deliver(receivers.kept, "/after-the-lost");
    assert.equal(receivers.kept.deliveries.filter(at("/lost")).length, 1);
  });
});

test("disables the runtime's invocation log, which would contain webhook addresses", () => {
  const { observability } = readConfig({
    config: join(ROOT, "worker", "wrangler.toml"),
  });
  assert.deepEqual(observability.logs, { enabled: true, invocation_logs: false });
});

test("drops a pending webhook whose host is no longer listed", async () => {
  const { dropped, kept } = receivers;
  dropped.answerAlways(500);
  await finishHooked(`${dropped.url}/hidden-address`);
  const first = await dropped.next();
  jobs.vars = { ...jobs.vars, WEBHOOK_HOSTS: kept.host };
  // This restart with the new WEBHOOK_HOSTS makes pending webhooks due immediately.
  await ageJobs(0);
  await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0);
  await untilLogged(`{"operator":"webhook ${first.headers["webhook-id"]} was dropped`);
  await deliver(kept, "/after-the-dropped");
  assert.equal(dropped.deliveries.length, 1);
});

test("keeps webhook addresses and the secret out of the log", () => {
  const log = jobs.gate.gateway.log() + closed.gate.gateway.log();
  assert.match(log, /was dropped/);
  for (const hidden of ["hidden-address", "hidden-token", WEBHOOK_SECRET.replace("whsec_", "")]) {
    assert.ok(!log.includes(hidden), hidden);
  }
});
