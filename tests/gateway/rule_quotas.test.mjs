/**
 * A workflow chooses its environment, and with it the `sub` of its token: what a rule grants is
 * counted by the claims that the rule names, and for all its callers together.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startIssuer } from "../harness/issuer.mjs";
import { assertProblem, EVERY_SCOPE, JOBS, PROJECT, startGate } from "./gate.mjs";

const prompt = "document the release";
let gate;
let issuer;
let state;

before(async () => {
  state = mkdtempSync(join(tmpdir(), "quillgate-rule-quotas-"));
  issuer = await startIssuer();
  const grant = { projects: [PROJECT], scope: EVERY_SCOPE };
  const rules = [
    {
      ...{ ...grant, claims: { repository_owner_id: "3003", event_name: "push" } },
      ...{ caller: ["repository_id"], quota: { "create-job": 2 } },
    },
    {
      ...{ ...grant, claims: { event_name: "workflow_dispatch" } },
      ...{ quota: 2, ceiling: { "create-job": 3 } },
    },
  ];
  const entry = { issuer: issuer.url, audience: "quillgate", jwks: issuer.jwksUrl, rules };
  gate = await startGate("rule-quotas", {
    gateway: { state, vars: { TRUSTED_ISSUERS: JSON.stringify([entry]) } },
  });
});
after(async () => {
  await gate?.stop();
  await issuer?.stop();
  rmSync(state, { recursive: true, force: true });
});

/** Creates a job from an environment of a repository, which is all that its `sub` says. */
function create(environment, changes = {}) {
  const sub = `repo:acme/docs:environment:${environment}`;
  const token = gate.known(issuer.mint(issuer.githubClaims({ sub, environment, ...changes })));
  return gate.post(JOBS, { prompt }, { authorization: `Bearer ${token}` });
}

function assertCreated(answer) {
  assert.equal(answer.status, 201, answer.text);
}

function assertSpent(answer, policy) {
  const problem = assertProblem(answer, 429, "quota-exceeded");
  assert.deepEqual(problem["violated-policies"], [policy]);
  assert.ok(Number(answer.header("retry-after")) > 0);
}

test("one repository has one quota, from however many environments it comes", async () => {
  assertCreated(await create("one"));
  assertCreated(await create("two"));
  for (const environment of ["three", "one", "four"]) {
    assertSpent(await create(environment), "create-job-caller");
  }
  assert.equal((await gate.upstream.jobs()).length, 2);
  assertCreated(await create("three", { repository_id: "2003" }));
});

test("a token that lacks the claim which tells callers apart is not let in", async () => {
  const answer = await create("one", { repository_id: undefined });
  assertProblem(answer, 403, "identity-not-mapped");
});

test("all callers of a rule share its ceiling", async () => {
  const dispatched = { event_name: "workflow_dispatch" };
  const first = await create("a", dispatched);
  assertCreated(first);
  assert.match(
    first.header("ratelimit-policy"),
    /"create-job-caller";q=2;.*"create-job-rule";q=3;/,
  );
  assert.match(first.header("ratelimit"), /"create-job-rule";r=2;/);
  const many = ["b", "c", "d", "e", "f", "g", "h"].map((name) => create(name, dispatched));
  const answers = await Promise.all(many);
  assert.equal(answers.filter(({ status }) => status === 201).length, 2);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    assertSpent(answer, "create-job-rule");
  }
  // Others are not under it.
  assertCreated(await create("x", { repository_id: "2004" }));
});

test("both outlast a restart", async () => {
  await gate.restart();
  assertSpent(await create("five"), "create-job-caller");
  assertSpent(await create("i", { event_name: "workflow_dispatch" }), "create-job-rule");
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
