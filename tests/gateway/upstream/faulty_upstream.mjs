import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Client, OutcomeUnknownError, ServerError } from "../../../pkg/dist/node.js";
import { closedRange, viewsOf } from "../analytics_requests.mjs";
import { assertProblem, before, JOBS, PROJECT, useGate } from "../recorded_gateway.mjs";

const NO_LIMIT = String(10 ** 6);

export const gate = useGate(`faulty-upstream-${process.pid}`, {
  gateway: {
    vars: {
      UPSTREAM_TIMEOUT_SECONDS: "3",
      CREATE_LIMIT_PER_HOUR: NO_LIMIT,
      ANALYTICS_LIMIT_PER_HOUR: NO_LIMIT,
    },
  },
});
export let client;

before(() => {
  const auth = { token: gate.token() };
  client = new Client({ baseUrl: gate.gateway.url, projectId: PROJECT, auth, maxRetries: 0 });
});
beforeEach(async () => {
  // Requests without faults keep the circuit breakers closed.
  await gate.upstream.clearFaults();
  await Promise.all([READ.raw(), gate.get(`${JOBS}/none`), WRITE.raw()]);
  await gate.upstream.reset();
});

/** Reads page views by raw HTTP (`raw`) or by the package (`call`). */
export const READ = {
  raw: () => gate.get(viewsOf(closedRange())),
  call: () => client.analytics.views(closedRange()),
};
export const READ_JOB = {
  raw: () => gate.get(`${JOBS}/j1`),
  call: () => client.agentJobs.get("j1"),
};
export const WRITE = {
  raw: () => gate.post(JOBS, { prompt: "x" }),
  call: () => client.agentJobs.create({ prompt: "x" }),
};

/** Injects `fault` into the next `times` upstream requests. Returns the result of `send`. */
export async function sendWith(fault, send, times = 1) {
  await gate.upstream.fault({ times, fault });
  return send();
}

/** Returns the error that a call to the package throws, and asserts the error's type. */
export async function errorOf(call, type) {
  const error = await call().then(
    (value) => assert.fail(`the call succeeds with ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  assert.ok(
    error instanceof type,
    `expected ${type.name}, received ${error.name}: ${error.message}`,
  );
  return error;
}

/** Defines tests for two GETs and a POST during an upstream fault. */
export function testProblem(what, fault, { repeated = false, certain = false, ...expected }) {
  const { status, kind, check, error = ServerError } = expected;
  const times = repeated ? 2 : 1;
  const outcome = certain ? undefined : "unknown";
  const written = certain ? error : OutcomeUnknownError;
  for (const [method, send, on] of [
    ["GET", READ, { times, error }],
    ["GET of a job", READ_JOB, { times, error }],
    ["POST", WRITE, { times: 1, outcome, error: written }],
  ]) {
    test(`returns ${status} ${kind} on a ${method} when the upstream ${what}`, async () => {
      const answer = await sendWith(fault(), send.raw, on.times);
      const problem = assertProblem(answer, status, kind);
      assert.equal(problem.outcome, on.outcome);
      check?.(problem, answer, method);

      const thrown = await errorOf(() => sendWith(fault(), send.call, on.times), on.error);
      assert.equal(thrown.status, status);
      assert.equal(thrown.code, `/problems/${kind}`);
      assert.equal(thrown.problem.title, problem.title);
      assert.equal(await gate.received(), 2 * on.times, `${on.times} upstream requests for each`);
    });
  }
}
