/**
 * Rejected and repeated admin keys. If the upstream rejects a key, only the log contains the
 * reason. If an upstream response repeats the key, the gateway neither forwards nor logs the key.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ServerError } from "../../../pkg/dist/node.js";
import { assertProblem, VIEWS } from "../recorded_gateway.mjs";
import {
  errorOf,
  gate,
  READ,
  READ_JOB,
  sendWith,
  useFaultyUpstream,
  WRITE,
} from "./faulty_upstream.mjs";

useFaultyUpstream("rejected-keys");

describe("a key that the upstream rejects", () => {
  const REASON = /expired|read access|write access|invalid api key/i;

  /** Asserts that the reason for a rejected key is in the log and not in the response. */
  async function assertReasonOnlyInLog(request, operator) {
    const answer = await request.raw();
    const problem = assertProblem(answer, 502, "upstream-credential");
    assert.doesNotMatch(answer.raw.toString(), REASON);
    assert.equal(problem.upstream, undefined);
    assert.equal(answer.header("www-authenticate"), undefined);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.match(line.operator, operator);
    const error = await errorOf(request.call, ServerError);
    assert.equal(error.status, 502);
    assert.doesNotMatch(JSON.stringify(error.problem) + error.message, REASON);
  }

  for (const [state, request, operator] of [
    ["expired", READ, /rejected ADMIN_API_KEY with 401: API key has expired/],
    ["expired", WRITE, /rejected ADMIN_API_KEY with 401: API key has expired/],
    ["read", WRITE, /rejected ADMIN_API_KEY with 403: API key is limited to read access/],
    ["write", READ, /rejected ADMIN_API_KEY with 403: API key is limited to write access/],
  ]) {
    const method = request === READ ? "GET" : "POST";
    test(`returns 502 to a ${method} with an admin key in state "${state}", and only logs the reason`, async (t) => {
      t.after(() => gate.upstream.setKey({ key: gate.key, state: "accepted" }));
      await gate.upstream.setKey({ key: gate.key, state });
      await assertReasonOnlyInLog(request, operator);
    });
  }

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

  test("does not forward an admin key that an upstream header field repeats", async () => {
    const headers = { "x-debug": gate.key, "x-request-id": gate.key, "content-language": "en" };
    const fault = { kind: "status", status: 200, headers, body: "{}" };
    const answer = await sendWith(fault, READ_JOB.raw);
    assert.deepEqual([answer.status, answer.header("content-language")], [200, "en"]);
    assert.ok(!answer.raw.includes(gate.key));
    for (const [name, value] of [
      ["content-language", `en, ${gate.key}`],
      ["content-type", `application/json; key=${gate.key}`],
    ]) {
      const leaky = { ...fault, headers: { [name]: value } };
      const refused = await sendWith(leaky, READ_JOB.raw);
      assertProblem(refused, 502, "upstream-malformed");
      assert.ok(!refused.raw.includes(gate.key));
    }
    for (const send of [READ.raw, WRITE.raw]) {
      assert.ok(!(await sendWith(fault, send)).raw.includes(gate.key));
    }
  });
});
