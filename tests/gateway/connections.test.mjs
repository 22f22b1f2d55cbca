/**
 * The connections of an object, of which it may have six at a time: what waits for the heads of
 * answers that do not come keeps nothing else from going out.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { startReceiver } from "../harness/receiver.mjs";
import { assertProblem, PROJECT } from "./gate.mjs";
import { OTHER_PROJECT, startJobs } from "./jobs.mjs";

const CONNECTIONS = 6;
const FOR_READS = 3;
const FOR_WEBHOOKS = 2;
const TIMEOUT_SECONDS = 6;
/** Two clocks, each of which counts whole milliseconds, may differ by so many. */
const CLOCKS_MS = 2;
const CREATE = "agentJobs.create";
const READ = "agentJobs.get";
/** Its requests fail, and those of no other test for it. */
const SLOW_PROJECT = "slow-docs";

let jobs;
let receiver;

before(async () => {
  receiver = await startReceiver();
  jobs = await startJobs("connections", {
    projects: [PROJECT, OTHER_PROJECT, SLOW_PROJECT],
    vars: {
      UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS),
      JOB_POLL_SECONDS: "1",
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOSTS: receiver.host,
    },
  });
});
after(async () => {
  await jobs?.stop();
  await receiver?.stop();
});
beforeEach(() => jobs.upstream.reset());

/** Sends a creation, whatever becomes of it. */
function create({ key, project } = {}) {
  const headers = key === undefined ? [] : [["Idempotency-Key", key]];
  const { authorization } = jobs;
  return jobs.gate.post(
    jobs.path(undefined, { project }),
    { prompt: "x" },
    { authorization, headers },
  );
}

/** How many requests of an operation the upstream has received. */
const requestsOf = async (operation) =>
  (await jobs.upstream.requests()).filter((request) => request.operation === operation);

describe("an upstream that holds back its answers", () => {
  test("about jobs has three connections, and does not stop who writes", async () => {
    const ids = [];
    for (let job = 0; job < 10; job += 1) {
      // Of a job that the gateway has not created it knows nothing: it has to ask.
      ids.push((await jobs.directly("elsewhere", { project: OTHER_PROJECT })).id);
    }
    await jobs.upstream.hold({ operation: READ });
    const streams = ids.map((id) => jobs.watch(id, { project: OTHER_PROJECT }));
    await jobs.upstream.untilHeld(FOR_READS);
    // Each of these goes through the same object, after all that waits.
    for (let count = 0; count < CONNECTIONS; count += 1) {
      assert.equal((await create({ project: OTHER_PROJECT })).status, 201);
    }
    assert.equal((await requestsOf(READ)).length, FOR_READS, "the others wait for their turn");
    await jobs.upstream.release();
    for (const stream of streams) stream.leave();
  });

  test("about creations has six: a seventh is not sent, and its key is free", async () => {
    await jobs.upstream.hold({ operation: CREATE });
    const held = Array.from({ length: CONNECTIONS }, () => create());
    await jobs.upstream.untilHeld(CONNECTIONS);
    // They end together, and then some of these have their turn, with all of their time.
    const late = Array.from({ length: 3 * CONNECTIONS }, (_, at) => create({ key: `late-${at}` }));
    for (const answer of await Promise.all(held)) {
      assert.equal(assertProblem(answer, 504, "upstream-timeout").outcome, "unknown");
    }
    const answers = await Promise.all(late.map(timed));
    const reached = await requestsOf(CREATE);
    const isUnsent = ({ answer }) => answer.status === 503;
    for (const { answer } of answers.filter(isUnsent)) {
      const { outcome } = assertProblem(answer, 503, "gateway-busy");
      assert.equal(outcome, undefined, "it was not sent");
      assert.equal(answer.header("retry-after"), "5");
    }
    const sent = answers.filter((one) => !isUnsent(one));
    for (const { answer } of sent) {
      assert.equal(assertProblem(answer, 504, "upstream-timeout").outcome, "unknown");
    }
    assert.ok(sent.length < late.length, "not all of them were sent");
    assert.equal(reached.length, CONNECTIONS + sent.length, "what was refused has not left");

    await jobs.upstream.release();
    const refused = answers.findIndex(isUnsent);
    assert.equal((await create({ key: `late-${refused}` })).status, 201);
    assert.equal((await requestsOf(CREATE)).length, reached.length + 1);
  });

  test("has its whole time for a request that had to wait", async () => {
    await jobs.upstream.hold({ operation: CREATE });
    const project = SLOW_PROJECT;
    const { left } = (await jobs.health(project)).budgets["create-job"];
    const held = Array.from({ length: CONNECTIONS }, () => create({ project }));
    await jobs.upstream.untilHeld(CONNECTIONS);
    const late = timed(create({ project }));
    const isQueued = ({ budgets }) => budgets["create-job"].left === left - CONNECTIONS - 1;
    await jobs.untilHealth(isQueued, project);
    const released = Date.now();
    await jobs.upstream.release(1);
    const { answer, ended } = await late;
    assertProblem(answer, 504, "upstream-timeout");
    assert.ok(ended - released >= TIMEOUT_SECONDS * 1000 - CLOCKS_MS, `${ended - released} ms`);
    await jobs.upstream.release();
    await Promise.all(held);
  });
});

describe("receivers that hold back their answers", () => {
  test("have two connections, and stop neither reads nor writes", async () => {
    await jobs.upstream.clearFaults();
    receiver.answerAlways({ hang: true });
    const headers = [["Webhook-Url", `${receiver.url}/hook`]];
    const ids = [];
    for (let job = 0; job < 5; job += 1) {
      ids.push((await jobs.create("announce it", { headers, project: OTHER_PROJECT })).id);
    }
    for (const id of ids) await jobs.upstream.setJob(id, { status: "completed" });
    const streams = ids.map((id) => jobs.watch(id, { project: OTHER_PROJECT }));
    await Promise.all(streams.map((stream) => stream.ended));
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === ids.length, OTHER_PROJECT);
    while (receiver.deliveries.length < FOR_WEBHOOKS) await new Promise(setImmediate);
    for (let count = 0; count < CONNECTIONS; count += 1) {
      assert.equal((await create({ project: OTHER_PROJECT })).status, 201);
    }
    const other = await jobs.directly("elsewhere", { project: OTHER_PROJECT });
    const stream = await jobs.watching(other.id, { project: OTHER_PROJECT });
    stream.leave();
    assert.equal(receiver.deliveries.length, FOR_WEBHOOKS, "the others wait for their turn");
  });
});

/** An answer, and when it came. */
async function timed(answering) {
  const answer = await answering;
  return { answer, ended: Date.now() };
}

test("neither answers nor log hold the admin key, the secret or a token", () =>
  jobs.assertDiscreet());
