/** The six connections of a Durable Object. */

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { Receiver } from "../../harness/receiver.mjs";
import { until } from "../analytics_requests.mjs";
import { CLOCK_RATE, hook, keyed, OTHER_PROJECT, useJobs, webhookVars } from "../jobs_gateway.mjs";
import { assertProblem, PROJECT, useServer } from "../recorded_gateway.mjs";

const CONNECTIONS = 6;
const READ_CONNECTIONS = 3;
const WEBHOOK_CONNECTIONS = 2;
const TIMEOUT_SECONDS = 30;
/** A shorter time than the gateway's timeout for a receiver. */
const RECEIVER_TIMEOUT_MS = 18_000;
const CREATE = "agentJobs.create";
const READ = "agentJobs.get";

/** A receiver gets one webhook at a time, so each of these uses one connection. */
const receivers = Array.from({ length: WEBHOOK_CONNECTIONS + 1 }, () => useServer(new Receiver()));
const jobs = useJobs("connections", () => ({
  projects: [PROJECT, OTHER_PROJECT],
  vars: {
    UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS),
    JOB_POLL_SECONDS: "1",
    ...webhookVars(...receivers),
  },
}));
beforeEach(() => jobs.upstream.reset());

const requestsOf = async (operation) =>
  (await jobs.upstream.requests()).filter((request) => request.operation === operation);

describe("an upstream that does not respond", () => {
  test("uses three connections for stalled job reads, which do not block creations", async () => {
    const ids = [];
    for (let job = 0; job < 10; job += 1) {
      // The gateway did not create these jobs, so it must read them from the upstream.
      ids.push((await jobs.directly("elsewhere", { project: OTHER_PROJECT })).id);
    }
    await jobs.upstream.hold({ operation: READ });
    const streams = ids.map((id) => jobs.watch(id, { project: OTHER_PROJECT }));
    await jobs.upstream.untilHeld(READ_CONNECTIONS);
    // The creations use the same Durable Object as the reads that are stalled or wait for a
    // connection.
    await jobs.createMany(CONNECTIONS, "x", { project: OTHER_PROJECT });
    const reads = await requestsOf(READ);
    assert.equal(reads.length, READ_CONNECTIONS, "the others wait for a connection");
    await jobs.upstream.release();
    for (const stream of streams) stream.leave();
  });

  test("does not send a creation that gets no connection, and keeps its idempotency key free", async () => {
    await jobs.upstream.hold({ operation: CREATE });
    const create = (key) => jobs.send("x", { headers: keyed(key) });
    const keys = Array.from({ length: 4 * CONNECTIONS }, (_, at) => `late-${at}`);
    const answers = await Promise.all(keys.map(create));
    const unsent = answers.findIndex(({ status }) => status === 503);
    assert.equal(assertProblem(answers[unsent], 503, "gateway-busy").outcome, undefined);
    const sent = answers.filter(({ status }) => status === 504);
    assert.equal((await requestsOf(CREATE)).length, sent.length);
    await jobs.upstream.release();
    assert.equal((await create(keys[unsent])).status, 201);
  });
});

test("uses two connections for stalled webhooks, which block neither reads nor creations", async () => {
  await jobs.upstream.clearFaults();
  const ids = [];
  for (const receiver of receivers) {
    receiver.answerAlways({ hang: true });
    const headers = hook(`${receiver.url}/hook`);
    ids.push((await jobs.create("announce it", { headers, project: OTHER_PROJECT })).id);
  }
  for (const id of ids) await jobs.upstream.setJob(id, { status: "completed" });
  const streams = ids.map((id) => jobs.watch(id, { project: OTHER_PROJECT }));
  await Promise.all(streams.map((stream) => stream.ended));
  await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === ids.length, OTHER_PROJECT);
  const arrivals = () => receivers.flatMap(({ deliveries }) => deliveries).map(({ at }) => at);
  await until(() => arrivals().length >= WEBHOOK_CONNECTIONS);
  await jobs.createMany(CONNECTIONS, "x", { project: OTHER_PROJECT });
  const other = await jobs.directly("elsewhere", { project: OTHER_PROJECT });
  const stream = await jobs.watching(other.id, { project: OTHER_PROJECT });
  stream.leave();
  const first = Math.min(...arrivals());
  const stalled = arrivals().filter((at) => (at - first) * CLOCK_RATE < RECEIVER_TIMEOUT_MS);
  assert.equal(stalled.length, WEBHOOK_CONNECTIONS, "the other one waits for a connection");
});
