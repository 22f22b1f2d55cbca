import assert from "node:assert/strict";
import { test } from "node:test";
import { Issuer } from "../../harness/issuer.mjs";
import {
  assertProblem,
  EVERY_SCOPE,
  JOBS,
  PROJECT,
  trust,
  useGate,
  useServer,
} from "../recorded_gateway.mjs";

const prompt = "document the release";
const GRANT = { projects: [PROJECT], scope: EVERY_SCOPE };
const RULES = [
  {
    ...{ ...GRANT, claims: { repository_owner_id: "3003", event_name: "push" } },
    ...{ caller: ["repository_id"], quota: { "create-job": 2 } },
  },
  {
    ...{ ...GRANT, claims: { event_name: "workflow_dispatch" } },
    ...{ quota: 2, ceiling: { "create-job": 3 } },
  },
];
const issuer = useServer(new Issuer());
const gate = useGate("rule-quotas", () => ({ gateway: { vars: trust(issuer, RULES) } }));

function create(environment, changes) {
  const sub = `repo:acme/docs:environment:${environment}`;
  const token = gate.known(issuer.mint(issuer.githubClaims({ sub, environment, ...changes })));
  return gate.post(JOBS, { prompt }, { authorization: `Bearer ${token}` });
}

function assertCreated(answer) {
  assert.equal(answer.status, 201, answer.text);
}

test("limits all callers of a rule together to its ceiling", async () => {
  const dispatched = { event_name: "workflow_dispatch" };
  const first = await create("a", dispatched);
  assertCreated(first);
  const policies = /"create-job-caller";q=2;.*"create-job-rule";q=3;/;
  assert.match(first.header("ratelimit-policy"), policies);
  assert.match(first.header("ratelimit"), /"create-job-rule";r=2;/);
  const many = ["b", "c", "d", "e", "f", "g", "h"].map((name) => create(name, dispatched));
  const answers = await Promise.all(many);
  assert.equal(answers.filter(({ status }) => status === 201).length, 2);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    const problem = assertProblem(answer, 429, "quota-exceeded");
    assert.deepEqual(problem["violated-policies"], ["create-job-rule"]);
    assert.ok(Number(answer.header("retry-after")) > 0);
  }
  // The ceiling does not apply to other rules.
  assertCreated(await create("x", { repository_id: "2004" }));
});
