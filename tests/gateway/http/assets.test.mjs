/**
 * The static files of the gateway's page. The gateway serves these files with security header
 * fields. It returns 404 for a path that is neither a file nor a route.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertProblem, startGate } from "../recorded_gateway.mjs";

let gate;

before(async () => {
  gate = await startGate("assets");
});
after(() => gate?.stop());

const visit = (target, options = {}) => gate.get(target, { authorization: null, ...options });

function assertGuarded(answer) {
  const policy = answer.header("content-security-policy");
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    assert.ok(policy?.includes(part), `${part} in ${policy}`);
  }
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*|https?:/);
  for (const [name, value] of Object.entries({
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  })) {
    assert.equal(answer.header(name), value, name);
  }
  assert.equal(answer.header("access-control-allow-origin"), undefined);
  assert.equal(answer.header("set-cookie"), undefined);
}

describe("the page", () => {
  test("serves the page at / with the security header fields", async () => {
    const answer = await visit("/");
    assert.deepEqual([answer.status, answer.complete], [200, true]);
    assert.match(answer.header("content-type"), /^text\/html/);
    assertGuarded(answer);
  });

  test("serves the page's files with the security header fields, as immutable", async () => {
    const files = (await visit("/")).text.match(/\/assets\/[\w.-]+/g);
    assert.ok(files.length >= 2);
    for (const file of files) {
      const answer = await visit(file);
      assert.equal(answer.status, 200, file);
      assertGuarded(answer);
      assert.match(answer.header("cache-control"), /immutable/);
    }
  });
});

describe("a path without a file", () => {
  for (const target of [
    "/nope",
    "/nope.html",
    "/_headers",
    "/_redirects",
    "/.env",
    "/.dev.vars",
    "/wrangler.toml",
    "/index.js",
    "/index_bg.wasm",
    "/src/main.tsx",
    "/package.json",
    "/assets/",
    "/assets/../../worker/wrangler.toml",
    "/assets/%2e%2e/%2e%2e/worker/wrangler.toml",
    "/assets/..%2f..%2fworker%2fwrangler.toml",
    "/%2e%2e%2f%2e%2e%2fetc/passwd",
    "/..%5c..%5cwrangler.toml",
    "/%00",
    "/healthz/",
    "/cdn-cgi/nope",
  ]) {
    test(`returns 404 for the missing file ${target}`, async () => {
      assertProblem(await visit(target), 404, "not-found");
    });
  }
});
