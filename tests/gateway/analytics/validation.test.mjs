/**
 * Validation of analytics requests. The gateway rejects invalid requests without an upstream
 * request. For invalid parameters and conversation ids, the package throws an error with the same
 * field, rule and message, without the correction.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import { assertInvalid, PROJECT } from "../recorded_gateway.mjs";
import {
  BOTH,
  costing,
  gate,
  NAMES,
  reader,
  targetOf,
  threadTarget,
  turns,
  useReports,
} from "./reports.mjs";

useReports("report-validation");

describe("invalid input, which gateway and package reject with the same errors", () => {
  const INVALID = [
    ["views", { limit: 251 }, "limit", "page-size"],
    ["conversations", { limit: 0 }, "limit", "page-size"],
    ["visitors", { dateFrom: "2024-02-30" }, "dateFrom", "calendar-date"],
    ["feedback", { dateTo: "tomorrow" }, "dateTo", "date-format"],
    ["views", { dateFrom: "2024-01-02", dateTo: "2024-01-02" }, "dateFrom", "before-date-to"],
    ["views", { cursor: "c" }, "cursor", "unknown"],
    ["visitors", { page: 0 }, "page", "page"],
    ["visitors", { page: 1, offset: 0 }, "page", "not-with-offset"],
    ["views", { page: 2 ** 53 - 1, limit: 250 }, "offset", "offset"],
    ["searches", { offset: 10 }, "offset", "unknown"],
    ["searches", { cursor: "" }, "cursor", "not-empty"],
    ["feedback", { source: "agent,contextual" }, "source", "one-of"],
    ["feedbackByPage", { status: "pending,resolvd" }, "status", "one-of"],
    ["conversations", { cursor: "not-a-ulid" }, "cursor", "ulid"],
    ["callerStats", { limit: 10 }, "limit", "unknown"],
  ];
  let client;

  before(() => {
    const options = {
      baseUrl: gate.gateway.url,
      projectId: PROJECT,
      auth: { token: gate.token(BOTH) },
    };
    client = new Client({ ...options, maxRetries: 0 });
  });

  /**
   * Asserts that the gateway rejects `target` with the same error that the package throws for the
   * equivalent `call`.
   */
  async function assertRejected(target, call, field, rule) {
    const answer = await costing(0, () => gate.get(target, reader));
    assertInvalid(answer, field, rule);
    const error = await call().then(
      () => assert.fail("the package accepts it"),
      (reason) => reason,
    );
    assert.equal(error.name, "ValidationError");
    const [first] = answer.json.errors;
    // The gateway's detail can also have a correction, which the package omits to stay small.
    const detail = first.detail.split("; ")[0];
    const same = { field: error.field, rule: error.rule, detail: error.message };
    assert.deepEqual({ ...first, detail }, same);
  }

  for (const [name, params, field, rule] of INVALID) {
    test(`rejects ${name} with ${JSON.stringify(params)}: ${field} ${rule}`, () =>
      assertRejected(targetOf(name, params), () => client.analytics[name](params), field, rule));
  }

  test("rejects a malformed conversation id", () => {
    const id = "01ARZ3NDE é";
    const call = () => client.analytics.conversation(id);
    return assertRejected(threadTarget(encodeURIComponent(id)), call, "threadId", "ulid");
  });

  test("rejects any query parameter for a conversation", async () => {
    for (const name of ["dateFrom", "limit", "threadId"]) {
      const target = `${threadTarget(turns[0])}?${name}=1`;
      assertInvalid(await costing(0, () => gate.get(target, reader)), name, "unknown");
    }
  });

  test("rejects a duplicate query parameter of a report", async () => {
    for (const name of NAMES.filter((name) => name !== "conversation")) {
      const twice = "dateFrom=2024-01-01&dateFrom=2024-01-02";
      const answer = await costing(0, () => gate.get(`${targetOf(name)}${twice}`, reader));
      assertInvalid(answer, "dateFrom", "once");
    }
  });
});
