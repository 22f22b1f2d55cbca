import assert from "node:assert/strict";
import { test } from "node:test";
import { Description } from "./openapi.mjs";

const problem = {
  type: "object",
  required: ["type", "status"],
  properties: { type: { const: "/problems/not-found" }, status: { const: 404 } },
  additionalProperties: false,
};
const description = new Description({
  openapi: "3.1.0",
  paths: {
    "/jobs/{id}": {
      get: {
        responses: {
          200: {
            headers: {
              "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
              "Retry-After": { schema: { type: "integer", minimum: 1 } },
            },
            content: { "application/json": { schema: { $ref: "#/components/schemas/Job" } } },
          },
          "4XX": {
            content: { "application/problem+json": { schema: { anyOf: [problem] } } },
          },
        },
      },
    },
  },
  components: {
    headers: { "X-Request-Id": { required: true, schema: { type: "string", pattern: "^r" } } },
    schemas: {
      Job: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
      NotFound: problem,
    },
  },
});

const named = ["x-request-id", "r1"];
const json = ["content-type", "application/json"];

function violations({ target = "/jobs/1?a=b", status = 200, headers = [named, json], body }) {
  return description.findViolations({ method: "GET", target, status, headers, body });
}

test("a described response has no violations", () => {
  assert.deepEqual(violations({ body: '{"id":"1"}' }), []);
  assert.deepEqual(violations({ headers: [named, json, ["retry-after", "1"]] }), []);
});

test("reports an undescribed status, header field and media type", () => {
  assert.deepEqual(violations({ status: 500 }), ["status 500 is not described"]);
  assert.deepEqual(violations({ headers: [named, json, ["etag", "1"]] }), [
    "etag is not described",
  ]);
  assert.deepEqual(violations({ headers: [named, ["content-type", "text/csv"]] }), [
    "content of type text/csv is not described",
  ]);
});

test("reports a missing header field and values that do not match", () => {
  assert.deepEqual(violations({ headers: [json] }), ["X-Request-Id is missing"]);
  const [id, retryAfter] = violations({
    headers: [["x-request-id", "q"], json, ["retry-after", "soon"]],
  });
  assert.match(id, /^X-Request-Id: q: .*pattern/);
  assert.match(retryAfter, /^Retry-After: soon: .*integer/);
  assert.match(violations({ body: '{"id":1}' })[0], /id must be string/);
});

test("checks the problem of an undescribed path", () => {
  const headers = [["content-type", "application/problem+json"]];
  const check = (body) => violations({ target: "/other", status: 404, headers, body });
  assert.deepEqual(check('{"type":"/problems/not-found","status":404}'), []);
  assert.match(check('{"type":"/problems/not-found"}')[0], /required property 'status'/);
  assert.equal(check('{"type":"/problems/unknown","status":404}').length, 1);
});

test("ignores the page", () => {
  const headers = [["content-type", "text/html"]];
  assert.deepEqual(violations({ target: "/", headers, body: "<html>" }), []);
});
