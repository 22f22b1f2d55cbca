/** Decoding of results that are malformed or lack properties. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, DecodeError, OutcomeUnknownError } from "quillgate";

const ULID = "01J9Z3K4M5N6P7Q8R9S0T1V2W3";
const COUNT = "an integer from 0 to 9007199254740991";

function clientWith(json) {
  const fetch = async () => Response.json(json, { headers: { "x-request-id": "r-1" } });
  const options = { baseUrl: "https://gate.example", projectId: "acme", auth: { token: "t" } };
  return new Client({ ...options, fetch });
}

/** By operation: a call, and malformed results with the path and reason of the expected error. */
const MALFORMED = {
  "agentJobs.create": [
    ({ agentJobs }) => agentJobs.create({ prompt: "p" }),
    [[], "", "an object, found an array"],
    [null, "", "an object, found null"],
    [{ id: 5 }, "id", "a string, found a number"],
    [{ status: "active" }, "id", "a string, found nothing"],
    [{ id: null }, "id", "a string, found null"],
    [{ id: "j", status: {} }, "status", "a string, found an object"],
    [{ id: "j", source: { repository: true } }, "source.repository", "a string, found a boolean"],
  ],
  "agentJobs.list": [
    ({ agentJobs }) => agentJobs.list(),
    [{}, "jobs", "an array, found nothing"],
    [{ jobs: [{ id: "a" }, {}] }, "jobs[1].id", "a string, found nothing"],
    [{ jobs: [], nextCursor: 5 }, "nextCursor", "a string, found a number"],
  ],
  "analytics.views": [
    ({ analytics }) => analytics.views(),
    [{ totals: {}, hasMore: false }, "views", "an array, found nothing"],
    [{ totals: { ai: -1 } }, "totals.ai", `${COUNT}, found a number`],
    [{ totals: {}, views: [{ total: "1" }] }, "views[0].total", `${COUNT}, found a string`],
    [{ totals: {}, views: [], hasMore: 1 }, "hasMore", "true or false, found a number"],
  ],
  "analytics.visitors": [
    ({ analytics }) => analytics.visitors(),
    [{ totals: {}, visitors: [{ path: 1 }] }, "visitors[0].path", "a string, found a number"],
  ],
  "analytics.feedback": [
    ({ analytics }) => analytics.feedback(),
    [{ feedback: [{ source: 5 }] }, "feedback[0].source", "a string, found a number"],
    [
      { feedback: [{ source: "contextual", helpful: "yes" }] },
      ...["feedback[0].helpful", "true or false, found a string"],
    ],
    [
      { feedback: [{ source: "code_snippet", code: 5 }] },
      ...["feedback[0].code", "a string, found a number"],
    ],
  ],
  "analytics.feedbackByPage": [
    ({ analytics }) => analytics.feedbackByPage(),
    [{ feedback: [{ thumbsUp: 1.5 }] }, "feedback[0].thumbsUp", `${COUNT}, found a number`],
  ],
  "analytics.searches": [
    ({ analytics }) => analytics.searches(),
    [{ searches: [{ ctr: "0.5" }] }, "searches[0].ctr", "a number, found a string"],
    [{ searches: [], totalSearches: 2 ** 53 }, "totalSearches", `${COUNT}, found a number`],
  ],
  "analytics.conversations": [
    ({ analytics }) => analytics.conversations(),
    [
      { conversations: [{ sources: [{ title: 5 }] }] },
      ...["conversations[0].sources[0].title", "a string, found a number"],
    ],
  ],
  "analytics.conversation": [
    ({ analytics }) => analytics.conversation(ULID),
    [{ messages: [{ role: 5 }] }, "messages[0].role", "a string, found a number"],
  ],
  "analytics.callerStats": [
    ({ analytics }) => analytics.callerStats(),
    [{ web: null, api: true }, "api", `${COUNT}, found a boolean`],
  ],
};

for (const [name, [call, ...mistakes]] of Object.entries(MALFORMED)) {
  test(`${name}() rejects a malformed result with the path and the mistake`, async () => {
    for (const [json, where, what] of mistakes) {
      const thrown = await Promise.resolve(call(clientWith(json))).catch((reason) => reason);
      const isWrite = ["agentJobs.create", "agentJobs.sendMessage"].includes(name);
      assert.equal(thrown instanceof OutcomeUnknownError, isWrite, JSON.stringify(json));
      const error = isWrite ? thrown.cause : thrown;
      assert.ok(error instanceof DecodeError, JSON.stringify(json));
      const expected = [where, `must be ${what}`, "r-1"];
      assert.deepEqual([error.path, error.reason, error.requestId], expected);
    }
  });
}

test("a result has null for absent properties and none of the unknown ones", async () => {
  const job = await clientWith({ more: 1 }).agentJobs.get("j");
  const names = ["id", "status", "source", "model", "prLink", "createdAt", "archivedAt"];
  assert.deepEqual(job, Object.fromEntries(names.map((name) => [name, null])));
  const stats = await clientWith({}).analytics.callerStats();
  assert.deepEqual(stats, { web: null, api: null, other: null, total: null });
});
