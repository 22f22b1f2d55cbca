import assert from "node:assert/strict";
import { closedRange, until, viewsOf } from "../analytics_requests.mjs";
import { assertProblem } from "../recorded_gateway.mjs";

export const HOUR = 3600;
/** Maximum difference between two clocks that both count whole milliseconds. */
export const CLOCKS_MS = 2;

const EVERY_SCOPE = "jobs:create jobs:read analytics:read";
export const jobsOf = (project) => `/v2/agent/${project}/job`;
export const messageOf = (project, job) => `${jobsOf(project)}/${job.id}/message`;

export const PROJECTS = [
  ...["count", "back", "kept", "paid", "closed", "open", "own"],
  ...["one", "other", "burst", "crash", "edge"],
].map((name) => `${name}-docs`);

export const newViews = (project) => viewsOf({ project, ...closedRange() });

/** A caller with one token. By default, the token covers every project in {@link PROJECTS}. */
export class Caller {
  #gate;

  constructor(gate, sub = "alice", claims = {}) {
    this.#gate = gate;
    const token = gate.token({ sub, projects: PROJECTS, scope: EVERY_SCOPE, ...claims });
    this.authorization = `Bearer ${token}`;
  }

  create(project, options = {}) {
    const json = { prompt: "write it down" };
    return this.#gate.post(jobsOf(project), json, { ...options, ...this });
  }

  async created(project) {
    const answer = await this.create(project);
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  }

  followUp(project, job) {
    return this.#gate.post(messageOf(project, job), { prompt: "and more" }, { ...this });
  }

  views(project) {
    return this.#gate.get(newViews(project), { ...this });
  }
}

function items(field) {
  const pattern = /^"([a-z-]+)"((?:;[a-z]=\d+)+)$/;
  const read = (item) => {
    const [, name, parameters] = pattern.exec(item) ?? assert.fail(`not an item: ${item}`);
    const pairs = parameters.slice(1).split(";");
    return [name, Object.fromEntries(pairs.map((pair) => [pair[0], Number(pair.slice(2))]))];
  };
  return Object.fromEntries(field.split(", ").map(read));
}

/** Returns the number of requests left under a policy, from a response's `RateLimit` field. */
export function left(answer, policy) {
  assert.ok(answer.header("ratelimit"), `${answer.status} ${answer.text}`);
  const { r, t } = items(answer.header("ratelimit"))[policy];
  assert.ok(t >= 1, `t is ${t} and must be at least 1`);
  return r;
}

export function assertExceeded(answer, policy, { limit, window = HOUR }) {
  const problem = assertProblem(answer, 429, "quota-exceeded");
  assert.equal(problem.title, "Quota exceeded");
  assert.deepEqual(problem["violated-policies"], [policy]);
  const wait = answer.header("retry-after");
  assert.match(wait, /^[1-9]\d*$/, "whole seconds");
  assert.equal(answer.header("ratelimit-policy"), `"${policy}";q=${limit};w=${window}`);
  assert.equal(answer.header("ratelimit"), `"${policy}";r=0;t=${wait}`);
  return Number(wait);
}

async function timed(ask) {
  const sent = Date.now();
  const answer = await ask();
  return { answer, sent, received: Date.now() };
}

export const atOnce = (count, ask) => Promise.all(Array.from({ length: count }, () => timed(ask)));

export async function arrivals(gate, operation, project = "") {
  const requests = await gate.upstream.requests();
  const matching = requests.filter(
    (request) => request.operation === operation && request.target.includes(`/${project}`),
  );
  return matching.map(({ at }) => at);
}

export async function untilStatus(status, ask) {
  const before = [];
  return await until(async () => {
    const one = await timed(ask);
    if (one.answer.status === status) return { ...one, before };
    before.push(one.answer);
  });
}

export const unlimited = { createLimit: 1e6, messageLimit: 1e6, analyticsLimit: 1e6 };
