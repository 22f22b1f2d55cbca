/**
 * Malformed 2xx responses from the upstream. The gateway returns 502 for malformed jobs and pages,
 * and does not cache malformed pages. Only the package checks the properties of a page's rows.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DecodeError, OutcomeUnknownError, ServerError } from "../../../pkg/dist/node.js";
import { withoutChecks } from "../../harness/openapi.mjs";
import { assertProblem, JOBS, VIEWS } from "../recorded_gateway.mjs";
import {
  client,
  errorOf,
  gate,
  newDay,
  READ,
  READ_JOB,
  sendWith,
  testProblem,
  useFaultyUpstream,
  WRITE,
} from "./faulty_upstream.mjs";

useFaultyUpstream("malformed-responses");

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
  const page = { totals: {}, views: [], hasMore: false };

  test("lets the package's DecodeError name the field of a malformed row", async () => {
    const body = { ...page, views: [{ path: "/", human: "many" }] };
    // The gateway passes the cells of rows on unchanged.
    const read = () => errorOf(() => sendWith(shaped(body), READ.call), DecodeError);
    const error = await withoutChecks(gate.gateway.url, read);
    assert.equal(error.path, "views[0].human");
  });

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

  test("returns 502 for this job after a follow-up", async () => {
    const { id } = (await WRITE.raw()).json;
    const send = () => gate.post(`${JOBS}/${id}/message`, { prompt: "x" });
    const problem = assertProblem(await sendWith(shaped(body), send), 502, "upstream-malformed");
    assert.equal(problem.outcome, "unknown");
  });

  test("returns 502 without an event for this job when it is watched", async () => {
    const watch = () => gate.get(`${JOBS}/unseen-shape/events`);
    assertProblem(await sendWith(shaped(body), watch), 502, "upstream-malformed");
  });

  test("returns 502 for a job other than the requested one, and does not store it", async () => {
    const { id } = (await WRITE.raw()).json;
    const prLink = "https://github.com/other/secret/pull/9";
    const other = shaped({ id: "another", status: "completed", prLink });
    for (const [send, outcome] of [
      [() => gate.get(`${JOBS}/${id}`)],
      [() => gate.get(`${JOBS}/unseen-other/events`)],
      [() => gate.post(`${JOBS}/${id}/message`, { prompt: "x" }), "unknown"],
    ]) {
      const answer = await sendWith(other, send);
      assert.equal(assertProblem(answer, 502, "upstream-malformed").outcome, outcome);
      assert.ok(!answer.text.includes(prLink));
    }
    const { json } = await gate.get(`${JOBS}/${id}/record`);
    assert.deepEqual([json.job.status, json.job.prLink], ["active", null]);
  });

  for (const [what, id] of [
    ["a path", "../../x?y"],
    ["60,000 characters", "x".repeat(60_000)],
  ]) {
    test(`returns 502 for a created job whose id is ${what}, and does not list it`, async () => {
      const headers = [["Idempotency-Key", `id-${what.length}`]];
      const create = () => gate.post(JOBS, { prompt: "x" }, { headers });
      const answer = await sendWith(shaped({ id, status: "active" }), create);
      assert.equal(assertProblem(answer, 502, "upstream-malformed").outcome, "unknown");
      assertProblem(await create(), 409, "outcome-unknown");
      const { json } = await gate.get(`${JOBS}s?limit=1`);
      assert.notEqual(json.jobs[0]?.id, id);
    });
  }

  test("replaces half surrogates in a job", async () => {
    const body = '{"id":"j1","status":"active","model":"\\ud83d","more":{"\\udc00":1}}';
    const fault = { kind: "status", status: 200, body };
    const { json } = await sendWith(fault, READ_JOB.raw);
    assert.deepEqual([json.model, json.more], ["\ufffd", { "\ufffd": 1 }]);
  });

  test("returns 502 for a job of more than 64 kB on every route", async () => {
    const body = { id: "j1", model: "x".repeat(64 * 1024) };
    for (const send of [READ_JOB.raw, WRITE.raw, () => gate.get(`${JOBS}/huge/events`)]) {
      assertProblem(await sendWith(shaped(body), send), 502, "upstream-malformed");
    }
  });

  test("returns 502 upstream-malformed for a job that is null", async () => {
    const error = await errorOf(() => sendWith(shaped(null), READ_JOB.call), ServerError);
    assert.equal(error.code, "/problems/upstream-malformed");
  });

  for (const [method, send] of [
    ["GET", READ],
    ["POST", WRITE],
  ]) {
    test(`returns 502 upstream-malformed for the JSON null on a ${method}`, async () => {
      const problem = assertProblem(
        await sendWith(shaped(null), send.raw),
        502,
        "upstream-malformed",
      );
      assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
    });
  }

  for (const [what, body] of [
    ["with rows that are not an array", { ...page, views: {} }],
    ["with too many rows", { ...page, views: Array(251).fill({ path: "/" }) }],
  ]) {
    test(`returns 502 for page views ${what} and does not cache them`, async () => {
      const target = `${VIEWS}?dateFrom=${newDay()}`;
      const answer = await sendWith(shaped(body), () => gate.get(target));
      assertProblem(answer, 502, "upstream-malformed");
      assert.equal((await gate.get(target)).status, 200);
    });
  }
});
