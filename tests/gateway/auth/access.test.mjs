import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";

const gate = useGate("access");

/** Asserts that six operations reject this `Authorization` value with the same problem. */
async function assertUnauthorized(authorization, kind, detail) {
  const challenges = {
    "missing-token": 'Bearer realm="quillgate"',
    "invalid-token": 'Bearer realm="quillgate", error="invalid_token"',
  };
  const json = { prompt: "x" };
  for (const answer of [
    await gate.get(VIEWS, { authorization }),
    await gate.get(`${JOBS}/j1`, { authorization }),
    await gate.get(`${JOBS}/j1/events`, { authorization }),
    await gate.get(`${JOBS}s`, { authorization }),
    await gate.post(JOBS, json, { authorization }),
    await gate.post(`${JOBS}/j1/message`, json, { authorization }),
  ]) {
    const problem = assertProblem(answer, 401, kind);
    assert.equal(answer.header("www-authenticate"), challenges[kind]);
    if (detail) assert.match(problem.detail, detail);
  }
}

for (const [what, authorization] of [
  ["without an Authorization field", () => null],
  ["with an empty Authorization field", () => ""],
  ["with a token but no scheme", () => gate.token()],
  [
    "with Basic credentials that hold a token",
    () => `Basic ${Buffer.from(`alice:${gate.token()}`).toString("base64")}`,
  ],
  ["with a valid token under the Basic scheme", () => `Basic ${gate.token()}`],
  ["with a valid token under the Token scheme", () => `Token ${gate.token()}`],
  ["with Bearer but no token", () => "Bearer"],
  ["with a tab after Bearer", () => `Bearer\t${gate.token()}`],
  ["with two schemes in one field", () => `Basic Zm9v, Bearer ${gate.token()}`],
]) {
  test(`rejects a request ${what}`, () => assertUnauthorized(authorization(), "missing-token"));
}

describe("a valid token", () => {
  async function assertForbidden(changes, target = VIEWS) {
    const answer = await gate.get(target, { authorization: `Bearer ${gate.token(changes)}` });
    const problem = assertProblem(answer, 403, "project-not-allowed");
    assert.equal(answer.header("www-authenticate"), undefined);
    return problem;
  }

  test("rejects a valid token for another project", async () => {
    for (const projects of [
      [],
      ["other-docs"],
      ["*"],
      ["demo-*"],
      [""],
      ["DEMO-DOCS"],
      ["demo-docs "],
      ["demo"],
      ["demo-docs,other-docs"],
    ]) {
      await assertForbidden({ projects });
    }
    for (const project of ["other-docs", "Demo-docs", "demo-docs%20", "empty-docs", "*"]) {
      await assertForbidden({}, `/v1/analytics/${project}/views`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1/events`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1/record`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1/pull-request`);
      await assertForbidden({}, `/v2/agent/${project}/jobs`);
      await assertForbidden({}, `/v2/agent/${project}/jobs/events`);
    }
  });
});
