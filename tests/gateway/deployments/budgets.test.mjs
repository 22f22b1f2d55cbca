import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem } from "../recorded_gateway.mjs";
import { triggerOf, useSite } from "./site.mjs";

const DEPLOYMENTS = { limit: 10, windowMs: 10_000 };
const PREVIEWS = { limit: 5, windowMs: 60_000 };
/** Each request comes from another project, so that only the organization's budget limits them. */
const PROJECTS = Array.from({ length: 20 }, (_, at) => `site-${at}`);
const ANY_PROJECT = (at) => PROJECTS[at % PROJECTS.length];

const site = useSite("deployment-budgets", { projects: PROJECTS });

/** Returns when requests of these operations reached the simulator, by its clock. */
async function arrivals(...operations) {
  const requests = await site.upstream.requests();
  return requests.filter(({ operation }) => operations.includes(operation)).map(({ at }) => at);
}

/** Asserts that no window of time has more than `limit` requests, and that none was refused. */
async function assertWithin({ limit, windowMs }, times) {
  const gaps = times.slice(limit).map((at, index) => at - times[index]);
  for (const gap of gaps) assert.ok(gap >= windowMs, `${limit + 1} requests within ${gap} ms`);
  const { byStatus } = await site.upstream.counters();
  assert.equal(byStatus["429"] ?? 0, 0, "Mintlify refused none");
}

describe("100 concurrent deployments", () => {
  test("reach Mintlify at most ten times in any ten seconds", async () => {
    const start = (at) =>
      at % 4 === 3
        ? site.post(triggerOf(ANY_PROJECT(at), "weekly"), { headers: [["Prefer", "wait=25"]] })
        : site.deploy(ANY_PROJECT(at), { headers: [["Prefer", "wait=25"]] });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => start(at)));
    const accepted = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ status }) => status !== 202);
    assert.ok(accepted.length >= 20, `${accepted.length} were accepted`);
    for (const answer of refused) {
      const problem = assertProblem(answer, 429, "quota-exceeded");
      assert.deepEqual(problem["violated-policies"], ["create-deployment"]);
      const wait = Number(answer.header("retry-after"));
      assert.ok(wait >= 1 && wait * 1000 <= DEPLOYMENTS.windowMs, `Retry-After: ${wait}`);
    }
    const times = await arrivals("deployments.create", "automations.run");
    assert.equal(times.length, accepted.length);
    await assertWithin(DEPLOYMENTS, times);
  });

  test("are refused at once without Prefer: wait", async () => {
    const before = (await arrivals("deployments.create")).length;
    const start = (at) => site.deploy(ANY_PROJECT(at));
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => start(at)));
    const accepted = answers.filter(({ status }) => status === 202).length;
    assert.ok(accepted <= DEPLOYMENTS.limit, `${accepted} were accepted`);
    const sent = (await arrivals("deployments.create")).length - before;
    assert.equal(sent, accepted);
    await assertWithin(DEPLOYMENTS, await arrivals("deployments.create", "automations.run"));
  });
});

test("20 previews reach Mintlify at most five times in a minute", async () => {
  const start = (project, at) => site.preview(`branch-${at}`, { project });
  const answers = await Promise.all(PROJECTS.map(start));
  const accepted = answers.filter(({ status }) => status === 202).length;
  assert.equal(accepted, PREVIEWS.limit);
  await assertWithin(PREVIEWS, await arrivals("previews.create"));
});

const refusing = useSite("deployment-refusals", { projects: ["site-0"] });

test("requests that Mintlify refuses count, and the block ends with the window", async () => {
  const fault = { kind: "status", status: 429, headers: { "retry-after": "3600" } };
  await refusing.upstream.fault({ operation: "previews.create", times: 1000, fault });
  let answer;
  const start = refusing.gate.now();
  do {
    answer = await refusing.preview("any", { project: "site-0" });
  } while (answer.header("ratelimit") === undefined || refusing.gate.now() < start + 30_000);
  const { byOperation } = await refusing.upstream.counters();
  const sent = byOperation["previews.create"];
  assert.ok(sent >= 1 && sent <= PREVIEWS.limit, `${sent} were sent`);
  const problem = assertProblem(answer, 429, "quota-exceeded");
  assert.deepEqual(problem["violated-policies"], ["create-preview"]);
  const wait = Number(answer.header("retry-after"));
  assert.ok(wait * 1000 <= PREVIEWS.windowMs, `Retry-After: ${wait}`);
});
