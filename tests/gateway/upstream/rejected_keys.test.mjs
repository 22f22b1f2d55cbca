import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, VIEWS } from "../recorded_gateway.mjs";
import { gate, READ, READ_JOB, sendWith, WRITE } from "./faulty_upstream.mjs";

describe("a key that the upstream rejects", () => {
  test("neither forwards nor logs an admin key that an upstream error repeats", async () => {
    for (const [status, kind] of [
      [401, "upstream-credential"],
      [403, "upstream-credential"],
      [500, "upstream-error"],
    ]) {
      const details = [{ message: `Bearer ${gate.key}` }];
      const body = { error: `Invalid API key: ${gate.key}`, details };
      const answer = await sendWith({ kind: "json", status, body }, READ.raw);
      assertProblem(answer, status === 500 ? 500 : 502, kind);
      assert.ok(!answer.raw.includes(gate.key));
      const line = await gate.logged(answer.header("x-request-id"));
      assert.ok(!JSON.stringify(line).includes(gate.key));
      if (status !== 500) assert.match(line.operator, /Invalid API key: \[key\]/);
    }
  });

  for (const [form, write] of [
    ["plain", (key) => key],
    ["escaped", (key) => key.replace("m", "\\u006d").replace("_", "\\u005F")],
  ]) {
    test(`returns 502 for a success that contains the admin key (${form})`, async () => {
      const key = write(gate.key);
      const job = `{"id":"j1","status":"active","echo":"Bearer ${key}"}`;
      const named = `{"id":"j1","status":"active","${key}":true}`;
      const { json } = await gate.get(VIEWS);
      const page = JSON.stringify({ ...json, echo: "KEY" }).replace("KEY", key);
      for (const [request, body, outcome] of [
        [READ, page],
        [READ_JOB, job],
        [READ_JOB, named],
        [WRITE, job, "unknown"],
      ]) {
        const fault = { kind: "status", status: 200, body };
        const answer = await sendWith(fault, request.raw);
        const problem = assertProblem(answer, 502, "upstream-malformed");
        assert.equal(problem.outcome, outcome);
        assert.doesNotMatch(answer.raw.toString(), /mint_|u006d/);
        const line = await gate.logged(answer.header("x-request-id"));
        assert.match(line.operator, /contains the value of ADMIN_API_KEY/);
        assert.ok(!JSON.stringify(line).includes(gate.key));
      }
      assert.ok(!gate.gateway.log().includes(gate.key));
    });
  }
});
