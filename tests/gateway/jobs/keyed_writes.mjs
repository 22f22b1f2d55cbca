import assert from "node:assert/strict";
import { beforeEach } from "node:test";
import { until } from "../analytics_requests.mjs";
import { assertProblem, JOBS, PROJECT, useGate } from "../recorded_gateway.mjs";

export const OTHER_PROJECT = "other-docs";
export const PROJECTS = [
  ...[PROJECT, OTHER_PROJECT, "closed-docs", "busy-docs"],
  ...["refuses-401", "refuses-403", "refuses-429", "refuses-500"],
];
export const CREATE = "agentJobs.create";
const HUGE = String(10 ** 6);
export const jobsOf = (project) => `/v2/agent/${project}/job`;

/** Every key starts with this marker, so that a search finds leaked keys. */
const MARKER = "key-of-a-caller";
let keys = 0;

export function newKey() {
  keys += 1;
  return `${MARKER}-${keys}`;
}

export const gate = useGate(`keyed-writes-${process.pid}`, {
  upstream: { projects: PROJECTS, jobDurationMs: 600_000, createLimit: 1e6, messageLimit: 1e6 },
  stored: true,
  gateway: {
    vars: {
      CREATE_LIMIT_PER_HOUR: HUGE,
      MESSAGE_LIMIT_PER_HOUR: HUGE,
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOSTS: "hooks.example",
    },
  },
});
beforeEach(() => gate.upstream.reset());

export const as = (sub, claims = {}) =>
  `Bearer ${gate.token({ sub, projects: PROJECTS, ...claims })}`;

export function write(key, options = {}) {
  const {
    target = JOBS,
    prompt = "document the API",
    sub = "alice",
    headers = [],
    on = gate,
  } = options;
  const { authorization = as(sub) } = options;
  const fields = [["Idempotency-Key", key], ...headers];
  return on.post(target, { prompt }, { headers: fields, authorization });
}

export const forced = (key, options = {}) =>
  write(key, { ...options, headers: [["Idempotency-Retry", "force"]] });

export const concurrently = (count, send) => Promise.all(Array.from({ length: count }, send));

export async function creations(on = gate) {
  const { jobsCreated, byOperation } = await on.upstream.counters();
  return { jobs: jobsCreated, requests: byOperation[CREATE] };
}

export async function assertCreations(jobs, requests = jobs, on = gate) {
  assert.deepEqual(await creations(on), { jobs, requests });
}

export function assertReplayed(answer, first) {
  assert.equal(answer.header("idempotent-replayed"), "true", `${answer.status} ${answer.text}`);
  assert.deepEqual([answer.status, answer.text], [first.status, first.text]);
  assert.equal(answer.header("content-type"), first.header("content-type"));
}

export function assertFirst(answer, status = 201) {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.header("idempotent-replayed"), undefined);
}

export function assertInUse(answer) {
  assertProblem(answer, 409, "idempotency-key-in-use");
  assert.equal(answer.header("retry-after"), "1");
}

export function assertUnknown(answer) {
  const problem = assertProblem(answer, 409, "outcome-unknown");
  assert.equal(problem.outcome, "unknown");
  assert.match(problem.detail, /Idempotency-Retry: force/);
}

export const assertReused = (answer) => assertProblem(answer, 422, "idempotency-key-reused");

export async function untilNotInUse(send) {
  const isInUse = ({ status, text }) => status === 409 && text.includes("in-use");
  const { answer, before } = await untilNot(isInUse, send);
  for (const one of before) assertInUse(one);
  return answer;
}

export async function untilNot(matches, send) {
  const before = [];
  return await until(async () => {
    const answer = await send();
    if (!matches(answer)) return { answer, before };
    before.push(answer);
  });
}

export const failNext = (operation, fault, on = gate) => on.upstream.fault({ operation, fault });
