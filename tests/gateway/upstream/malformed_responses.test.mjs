import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { OutcomeUnknownError, ServerError } from "../../../pkg/dist/node.js";
import { assertProblem, JOBS } from "../recorded_gateway.mjs";
import {
  client,
  errorOf,
  gate,
  READ,
  READ_JOB,
  sendWith,
  testProblem,
  WRITE,
} from "./faulty_upstream.mjs";

describe("a malformed success", () => {
  for (const [what, fault] of [
    ["returns 200 with HTML", () => ({ kind: "html", status: 200 })],
    ["returns 200 without a body", () => ({ kind: "empty", status: 200 })],
    ["returns 204", () => ({ kind: "empty", status: 204 })],
    [
      "returns JSON as text/plain",
      () => ({ kind: "status", status: 200, contentType: "text/plain", body: "{}" }),
    ],
  ]) {
    testProblem(what, fault, {
      status: 502,
      kind: "upstream-malformed",
      check: (_problem, answer) => assert.doesNotMatch(answer.text, /<html/),
    });
  }

  for (const kind of ["cutBody", "cutChunked", "malformedJson"]) {
    for (const [method, send, error] of [
      ["GET", READ, ServerError],
      ["POST", WRITE, OutcomeUnknownError],
    ]) {
      test(`returns 502 upstream-malformed for a ${kind} fault on a ${method}`, async () => {
        const problem = assertProblem(
          await sendWith({ kind }, send.raw),
          502,
          "upstream-malformed",
        );
        assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
        const thrown = await errorOf(() => sendWith({ kind }, send.call), error);
        assert.equal(thrown.code, "/problems/upstream-malformed");
        assert.equal(await gate.received(), 2, "one upstream request for each");
      });
    }
  }

  describe("a job, which the gateway reads whole before it passes it on", () => {
    const createJob = async () => (await WRITE.raw()).json.id;

    for (const kind of ["cutBody", "cutChunked", "malformedJson"]) {
      test(`returns 502 upstream-malformed for a ${kind} fault on a GET of a job`, async () => {
        const id = await createJob();
        const answer = await sendWith({ kind }, () => gate.get(`${JOBS}/${id}`));
        assertProblem(answer, 502, "upstream-malformed");
        const call = () => client.agentJobs.get(id);
        const error = await errorOf(() => sendWith({ kind }, call), ServerError);
        assert.equal(error.code, "/problems/upstream-malformed");
      });
    }
  });

  const shaped = (body) => ({ kind: "json", status: 200, body });
  const body = { id: "j1", status: true };

  test("returns 502 for a created job with a status that is not a string, and its key creates no second job", async () => {
    const headers = [["Idempotency-Key", "shape"]];
    const create = () => gate.post(JOBS, { prompt: "x" }, { headers });
    const problem = assertProblem(await sendWith(shaped(body), create), 502, "upstream-malformed");
    assert.equal(problem.outcome, "unknown");
    assertProblem(await create(), 409, "outcome-unknown");
    assert.equal(await gate.received(), 1);
    const error = await errorOf(() => sendWith(shaped(body), WRITE.call), OutcomeUnknownError);
    assert.equal(error.code, "/problems/upstream-malformed");
  });

  test("returns 502 for a job of more than 64 kB on every route", async () => {
    const body = { id: "j1", model: "x".repeat(64 * 1024) };
    for (const send of [READ_JOB.raw, WRITE.raw, () => gate.get(`${JOBS}/huge/events`)]) {
      assertProblem(await sendWith(shaped(body), send), 502, "upstream-malformed");
    }
  });
});
