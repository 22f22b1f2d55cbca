/** `client.request`: requests that are not operations. */
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { Client, DecodeError, ServerError, ValidationError } from "quillgate";
import { startScriptedServer } from "./scripted_server.mjs";

let server;
afterEach(() => server?.stop());

async function serve(script, options = {}) {
  const responses = [script].flat();
  server = await startScriptedServer((_, at) => responses[Math.min(at, responses.length - 1)]);
  const auth = { token: "a-token" };
  return new Client({ baseUrl: server.url, projectId: "p", auth, logLevel: "off", ...options });
}

const BUSY = { status: 503, headers: { "retry-after": "0" } };

describe("client.request", () => {
  test("sends the method, query, body and credential, and resolves to the JSON", async () => {
    const seen = [];
    const client = await serve({ json: { any: [1] } }, { onRequest: (event) => seen.push(event) });
    const query = { q: "a b&c=ü+", tags: ["x", 2], all: true, none: undefined, nil: null };
    const body = { deep: [null, "ü"] };
    const sent = client.request("PATCH", "/v3/a%2Fb", { query, body, headers: { "x-a": "1" } });
    assert.deepEqual(await sent, { any: [1] });
    const { method, path, headers, body: text } = server.requests[0];
    assert.equal(method, "PATCH");
    assert.equal(path, "/v3/a%2Fb?q=a%20b%26c%3D%C3%BC%2B&tags=x&tags=2&all=true");
    assert.deepEqual(JSON.parse(text), body);
    assert.equal(headers.authorization, "Bearer a-token");
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["x-a"], "1");
    assert.equal(seen[0].operation, "request");
  });

  test("keeps the path of the base URL, and returns the response", async () => {
    const client = await serve({ json: 0, headers: { "x-request-id": "r-1" } });
    const below = client.withOptions({ baseUrl: `${server.url}/docs/` });
    const { data, requestId } = await below.request("GET", "/v1/x").withResponse();
    assert.deepEqual([data, requestId], [0, "r-1"]);
    assert.equal(server.requests[0].path, "/docs/v1/x");
  });

  test("resolves to null for an empty body, and rejects a body that is not JSON", async () => {
    const client = await serve([{ status: 204 }, { text: "<h1>" }]);
    assert.equal(await client.request("DELETE", "/v1/x"), null);
    await assert.rejects(client.request("GET", "/v1/x"), DecodeError);
  });

  test("retries reads, and writes only with a key and at a gateway", async () => {
    const key = { idempotencyKey: "k-1" };
    const adminKey = { auth: { adminKey: "mint_x" } };
    for (const [method, options, clientOptions, count] of [
      ["GET", {}, {}, 2],
      ["POST", {}, {}, 1],
      ["DELETE", {}, {}, 1],
      ["PUT", key, {}, 2],
      ["POST", key, { retryWrites: false }, 1],
      ["POST", key, adminKey, 1],
      ["GET", {}, adminKey, 2],
      ["GET", { maxRetries: 0 }, {}, 1],
    ]) {
      const client = await serve([BUSY, { json: 1 }], clientOptions);
      const sent = client.request(method, "/v1/x", options);
      if (count === 1) await assert.rejects(sent, ServerError);
      else assert.equal(await sent, 1);
      assert.equal(server.requests.length, count, `${method} ${JSON.stringify(options)}`);
      assert.equal(server.requests[0].headers["idempotency-key"], options.idempotencyKey);
      await server.stop();
      server = undefined;
    }
  });

  test("rejects an invalid request before anything is sent", async () => {
    const client = await serve({ json: 1 });
    const circular = {};
    circular.self = circular;
    for (const [field, ...request] of [
      ["method", "TRACE", "/x"],
      ["method", "get", "/x"],
      ["method", undefined, "/x"],
      ...["", "x", "//other.example/x", "/\\other.example", "https://other.example", "/a/../b"].map(
        (path) => ["path", "GET", path],
      ),
      ...["/a?b", "/a#b", "/%2e%2E/b", "/a b", "/a\n", "/ü", undefined, 5].map((path) => [
        "path",
        "GET",
        path,
      ]),
      ["body", "GET", "/x", { body: {} }],
      ["body", "POST", "/x", { body: circular }],
      ["body", "POST", "/x", { body: 1n }],
      ["query", "GET", "/x", { query: { a: {} } }],
      ["query", "GET", "/x", { query: { a: [null] } }],
      ["idempotencyKey", "POST", "/x", { idempotencyKey: "" }],
      ["timeout", "GET", "/x", { timeout: 0 }],
      ["param", "GET", "/x", { param: 1 }],
    ]) {
      await assert.rejects(client.request(...request), (error) => {
        assert.ok(error instanceof ValidationError, `${request}: ${error}`);
        assert.equal(error.field, field);
        return true;
      });
    }
    assert.equal(server.requests.length, 0);
  });
});
