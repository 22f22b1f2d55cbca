import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { deriveKeys } from "../../../scripts/webhook_key.mjs";
import { Receiver, signatureProblem, verify } from "../../harness/receiver.mjs";
import { hook, keyed, useJobs, webhookVars } from "../jobs_gateway.mjs";
import { assertProblem, PROJECT, useServer } from "../recorded_gateway.mjs";

const newWebhookSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const SECRETS = [newWebhookSecret(), newWebhookSecret()];
/** A path segment of most webhook addresses. */
const HIDDEN = "hidden-in-the-address-5c1d";
/** The delay before the first retry in the schedule of Standard Webhooks. */
const FIRST_RETRY_SECONDS = 5;
const RECEIVER_TIMEOUT_SECONDS = 20;

const RECEIVERS = [
  ...["good", "standard", "flaky", "resetting", "gone", "redirecting", "target"],
  ...["silent", "late", "crash"],
];
/** This project has its own Durable Object, so other tests do not set its alarms. */
const WITH_OTHERS = "with-others";

const receivers = Object.fromEntries(RECEIVERS.map((name) => [name, useServer(new Receiver())]));
const jobs = useJobs("webhooks", () => ({
  projects: [PROJECT, WITH_OTHERS],
  vars: {
    ...webhookVars(...Object.values(receivers)),
    WEBHOOK_SECRET: SECRETS.join(","),
    WEBHOOK_URL: `${receivers.standard.url}/default`,
  },
}));

let lastNumber = 0;

/** Creates a job with a webhook at a unique path. */
async function hooked(receiver, { project, path = "" } = {}) {
  lastNumber += 1;
  const hookPath = `/${HIDDEN}/${lastNumber}${path}`;
  const headers = hook(receiver.url + hookPath);
  const { id } = await jobs.create("notify me", { project, headers });
  const here = ({ path: own }) => own === hookPath;
  return {
    id,
    next: async () => Object.assign(await receiver.next(here), { project: project ?? PROJECT }),
    all: () => receiver.deliveries.filter(here),
    finish: (status, fields) => jobs.finish(id, { project, status, ...fields }),
  };
}

function assertDelivery(delivery, type) {
  assert.equal(delivery.method, "POST");
  const { headers, json } = delivery;
  assert.match(headers["content-type"], /^application\/json/);
  assert.match(headers["webhook-id"], /^msg_[0-9A-Za-z]+$/);
  assert.match(headers["webhook-timestamp"], /^\d{10}$/);
  const { project = PROJECT } = delivery;
  const webhookUrl = `http://${headers.host}${delivery.path}`;
  const clock = { now: jobs.gate.now() / 1000 };
  for (const key of deriveKeys({ project, url: webhookUrl }, SECRETS.join(","))) {
    assert.equal(signatureProblem(delivery, key, clock), undefined);
  }
  for (const other of [newWebhookSecret(), ...SECRETS]) {
    assert.equal(verify(delivery, other, clock), false, "another key verifies the delivery");
  }
  for (const name of ["authorization", "cookie", "traceparent"]) {
    assert.equal(headers[name], undefined, name);
  }
  assert.deepEqual(Object.keys(json), ["type", "timestamp", "project", "webhookUrl", "data"]);
  assert.deepEqual([json.project, json.webhookUrl], [project, webhookUrl]);
  assert.equal(json.type, type);
  assert.match(json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return json;
}

/** Adds a pull request to a job, and waits until a new watcher receives the link. */
async function link(job) {
  const prLink = "https://example.com/pull/1";
  await jobs.upstream.setJob(job.id, { prLink });
  await jobs.waitIntervals(2, PROJECT);
  const fresh = jobs.watch(job.id);
  await fresh.event(({ data }) => JSON.parse(data).prLink === prLink);
  fresh.leave();
}

describe("the webhook of a finished job", () => {
  for (const status of ["completed", "archived"]) {
    test(`sends a signed webhook with the job when it is ${status}`, async () => {
      const job = await hooked(receivers.good);
      await job.finish(status, { prLink: "https://example.com/pull/1" });
      const { data } = assertDelivery(await job.next(), `agent_job.${status}`);
      assert.deepEqual(data, await jobs.upstreamJob(job.id));
    });
  }

  test("sends one webhook for a job with 50 watchers", async () => {
    const job = await hooked(receivers.good);
    const streams = await jobs.watchMany(50, job.id);
    await job.finish();
    await Promise.all(streams.map(({ ended }) => ended));
    assertDelivery(await job.next(), "agent_job.completed");
    // A duplicate would arrive before the webhook of another job that is created now.
    const other = await hooked(receivers.good);
    await other.finish();
    await other.next();
    assert.equal(job.all().length, 1);
  });

  test("sends a second webhook with a new id when a follow-up finishes", async () => {
    const job = await hooked(receivers.good);
    await job.finish();
    const first = await job.next();
    await jobs.followUp(job.id);
    await job.finish("failed");
    const second = await job.next();
    assertDelivery(second, "agent_job.failed");
    assert.notEqual(second.headers["webhook-id"], first.headers["webhook-id"]);
  });

  test("sends a second webhook after a follow-up whose response was lost", async () => {
    const job = await hooked(receivers.good);
    await job.finish();
    await job.next();
    const fault = { kind: "reset", process: true };
    await jobs.gate.upstream.fault({ target: `${job.id}/message`, fault });
    const answer = await jobs.send("and more", { id: job.id });
    assertProblem(answer, 502, "upstream-unreachable");
    await job.finish("failed");
    assertDelivery(await job.next(), "agent_job.failed");
  });

  test("sends a webhook to WEBHOOK_URL when the caller names no address", async () => {
    const { id } = await jobs.create("notify the operator");
    await jobs.finish(id, { status: "failed" });
    const delivery = await receivers.standard.next(({ json }) => json.data.id === id);
    assertDelivery(delivery, "agent_job.failed");
    assert.equal(delivery.path, "/default");
  });

  test("sends one webhook for a creation that was repeated under its idempotency key", async () => {
    const { url } = receivers.good;
    const options = (path) => ({ headers: [...hook(url + path), ...keyed("sent-once")] });
    const first = await jobs.create("once", options("/sent-once"));
    assert.equal((await jobs.create("once", options("/sent-once"))).id, first.id);
    const answer = await jobs.send("once", options("/elsewhere"));
    assertProblem(answer, 422, "idempotency-key-reused");
    await jobs.finish(first.id);
    await receivers.good.next(({ path }) => path === "/sent-once");
    const paths = receivers.good.deliveries.map(({ path }) => path);
    assert.equal(paths.filter((path) => path === "/sent-once").length, 1);
    assert.ok(!paths.includes("/elsewhere"));
  });
});

describe("slow tests, run concurrently", { concurrency: true }, () => {
  describe("retries and polls", { concurrency: true }, () => {
    const signedAt = ({ headers }) => Number(headers["webhook-timestamp"]);

    function assertRepeated([first, second], type) {
      for (const delivery of [first, second]) assertDelivery(delivery, type);
      assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
      assert.equal(second.text, first.text);
      const wait = signedAt(second) - signedAt(first);
      assert.ok(wait >= FIRST_RETRY_SECONDS, `repeated after ${wait} s`);
      assert.notEqual(second.headers["webhook-signature"], first.headers["webhook-signature"]);
    }

    for (const [name, answer] of [
      ["flaky", 500],
      ["resetting", { reset: true }],
    ]) {
      test(`retries a webhook after about 5 s when its receiver fails: ${name}`, async () => {
        const receiver = receivers[name];
        receiver.answer(answer, 204);
        const job = await hooked(receiver);
        await job.finish("failed");
        const attempts = [await job.next()];
        const { webhooksWaiting } = await jobs.health();
        assert.ok(webhooksWaiting >= 1, `${webhooksWaiting} pending`);
        attempts.push(await job.next());
        assertRepeated(attempts, "agent_job.failed");
      });
    }

    test("does not retry a webhook that its receiver rejects with 410, and logs it", async () => {
      receivers.gone.answerAlways(410);
      const job = await hooked(receivers.gone);
      await job.finish();
      const { headers } = await job.next();
      // A retry of the first webhook would arrive before the retry of this later one.
      receivers.late.answer(500, 204);
      const clock = await hooked(receivers.late);
      await clock.finish();
      await clock.next();
      await clock.next();
      assert.equal(job.all().length, 1);
      const pattern = new RegExp(`\\{.*"webhook":"${headers["webhook-id"]}".*\\}`);
      const [line] = pattern.exec(jobs.gate.gateway.log()) ?? [];
      assert.ok(line, "the log has no line about the webhook");
      const { givenUp, status } = JSON.parse(line);
      assert.deepEqual([givenUp, status], [true, 410]);
    });

    test("treats a redirect of a webhook as a failure and does not follow it", async () => {
      const statuses = [301, 302, 303, 307, 308];
      const location = `${receivers.target.url}/redirected`;
      receivers.redirecting.answer(
        ...statuses.map((status) => ({ status, headers: { location }, body: "elsewhere" })),
      );
      // All first attempts run concurrently. Otherwise, a retry could use up the redirect that is
      // meant for another job's first attempt.
      const attempt = async () => {
        const job = await hooked(receivers.redirecting);
        await job.finish();
        return { job, first: await job.next() };
      };
      const attempts = await Promise.all(statuses.map(attempt));
      for (const { job, first } of attempts) {
        assertRepeated([first, await job.next()], "agent_job.completed");
      }
      assert.deepEqual(receivers.target.deliveries, []);
      assert.equal(receivers.target.connections, 0);
    });

    test("sends a webhook for an unwatched job", async () => {
      const job = await hooked(receivers.good);
      await jobs.upstream.setJob(job.id, { status: "completed" });
      assertDelivery(await job.next(), "agent_job.completed");
      assert.equal(job.all().length, 1);
    });

    test("does not delay webhooks to other receivers while one receiver hangs", async () => {
      const project = WITH_OTHERS;
      receivers.silent.answer({ hang: true });
      const stuck = await hooked(receivers.silent, { project });
      const other = await hooked(receivers.good, { project });
      await stuck.finish();
      const first = await stuck.next();
      await other.finish();
      await other.next();
      assert.equal(stuck.all().length, 1, "the first attempt still hangs");
      const second = await stuck.next();
      assertRepeated([first, second], "agent_job.completed");
      const wait = signedAt(second) - signedAt(first);
      assert.ok(wait >= RECEIVER_TIMEOUT_SECONDS + FIRST_RETRY_SECONDS, `repeated after ${wait} s`);
    });
  });
});

test("delivers a pending webhook after the gateway was killed", async () => {
  receivers.crash.answerAlways({ reset: true });
  const job = await hooked(receivers.crash);
  await job.finish("failed");
  const first = await job.next();
  assert.ok((await jobs.health()).webhooksWaiting >= 1);
  await jobs.restart("kill", async () => receivers.crash.answerAlways(204));
  const second = await job.next();
  assertDelivery(second, "agent_job.failed");
  assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
  assert.equal(second.text, first.text);
});

test("repeats the same message after a crash during the first attempt, although the job changed", async () => {
  receivers.crash.answerAlways({ hang: true });
  const job = await hooked(receivers.crash);
  await job.finish();
  const first = await job.next();
  const later = jobs.gate.now() + 24 * 3600 * 1000;
  await jobs.restartWithSql([["UPDATE outbox SET due = ?", later]]);
  receivers.crash.answerAlways(204);
  await link(job);
  await jobs.restartWithSql([["UPDATE outbox SET due = 0"]]);
  assert.equal((await job.next()).text, first.text);
});

test("delivers the latest state of a job in a webhook that was not sent before", async () => {
  receivers.crash.answerAlways(500);
  const job = await hooked(receivers.crash);
  await job.finish();
  await job.next();
  const later = jobs.gate.now() + 24 * 3600 * 1000;
  await jobs.restartWithSql([["UPDATE outbox SET attempts = 0, due = ?", later]]);
  receivers.crash.answerAlways(204);
  await link(job);
  await jobs.restartWithSql([["UPDATE outbox SET due = 0"]]);
  assert.deepEqual((await job.next()).json.data, await jobs.upstreamJob(job.id));
});

test("delivers every pending webhook, and each message successfully only once", async () => {
  for (const project of jobs.projects) {
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0, project);
  }
  for (const name of ["good", "standard"]) {
    const ids = receivers[name].deliveries.map(({ headers }) => headers["webhook-id"]);
    assert.equal(new Set(ids).size, ids.length, name);
  }
});

test("keeps secrets and webhook addresses out of deliveries and the log", () => {
  const log = jobs.gate.gateway.log();
  assert.ok(!log.includes(HIDDEN), "the log contains an address");
  for (const secret of SECRETS) assert.ok(!log.includes(secret.replace("whsec_", "")));
  for (const { headers, text } of Object.values(receivers).flatMap((one) => one.deliveries)) {
    const delivery = JSON.stringify(headers) + text;
    for (const secret of [...SECRETS, jobs.gate.key, jobs.gate.secret]) {
      assert.ok(!delivery.includes(secret), "a delivery contains a secret");
    }
  }
});
