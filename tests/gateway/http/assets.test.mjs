import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, useGate } from "../recorded_gateway.mjs";
import { assertGuarded } from "./guarded.mjs";

const gate = useGate("assets");

const visit = (target, options = {}) => gate.get(target, { authorization: null, ...options });

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

test("redirects no path to another host", async () => {
  for (const target of [
    "//evil.example",
    "//evil.example/index.html",
    "//evil.example/%2e%2e",
    "/\\evil.example/index.html",
    "/%5cevil.example/index.html",
    "/%2fevil.example/index.html",
    "/%09/evil.example/index.html",
    "/x/..//evil.example/index.html",
  ]) {
    const answer = await visit(target);
    const location = answer.header("location");
    const leads = location && new URL(location, gate.gateway.url).origin;
    assert.ok([undefined, gate.gateway.url].includes(leads), `${target} leads to ${location}`);
  }
});
