/** The page's files, and a page about each problem at the address in the problem's `type`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ROOT } from "../../../scripts/versions.mjs";
import { assertProblem, before, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";

const gate = useGate("assets");

const visit = (target, options = {}) => gate.get(target, { authorization: null, ...options });

/** Asserts the security header fields of the gateway's own pages. */
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

let kinds;

before(async () => {
  const { components } = JSON.parse((await visit("/openapi.json")).text);
  const schemas = Object.values(components.schemas).filter(({ allOf }) => allOf);
  kinds = schemas.map(({ properties }) => ({
    path: properties.type.const,
    title: properties.title.examples[0],
  }));
});

test("returns the page of each problem at the address in its type, without a redirect", async () => {
  assert.ok(kinds.length > 30, `${kinds.length} problems`);
  for (const { path, title } of kinds) {
    const answer = await visit(path);
    assert.deepEqual([answer.status, answer.complete], [200, true], path);
    assert.match(answer.header("content-type"), /^text\/html/);
    assert.ok(answer.text.includes(`<h1>${title}</h1>`), path);
    assert.match(answer.header("cache-control"), /max-age=0/);
    assertGuarded(answer);
    const head = await gate.send({ method: "HEAD", target: path, authorization: null });
    assert.deepEqual([head.status, head.body.length], [200, 0], path);
  }
});

test("lists every problem at /problems/", async () => {
  const { status, text } = await visit("/problems/");
  assert.equal(status, 200);
  for (const { path, title } of kinds) {
    assert.ok(text.includes(`<a href="${path}">${title}</a>`), path);
  }
});

test("a page about a problem has no script, no inline style and only own files", async () => {
  const { text } = await visit("/problems/not-found");
  assert.doesNotMatch(text, /<script|<style|\sstyle=/);
  const matches = text.matchAll(/<(?:link|img)\b[^>]*\s(?:href|src)="([^"]*)"/g);
  const files = [...matches].map(([, file]) => file);
  assert.deepEqual(files, ["/favicon.svg", "/problems/style.css"]);
  const style = await visit("/problems/style.css");
  assert.equal(style.status, 200);
  assert.match(style.header("content-type"), /^text\/css/);
  assertGuarded(style);
});

test("every link of a page about a problem leads to a page", async () => {
  const links = new Set();
  for (const { path } of [...kinds, { path: "/problems/" }]) {
    const { text } = await visit(path);
    for (const [, link] of text.matchAll(/<a href="([^"]+)"/g)) links.add(link);
  }
  for (const link of links) assert.equal((await visit(link)).status, 200, link);
  assert.equal(await gate.received(), 0);
});

test("redirects other spellings of a problem's address to it", async () => {
  for (const [path, expected] of [
    ["/problems", "/problems/"],
    ["/problems/not-found/", "/problems/not-found"],
    ["/problems/not-found.html", "/problems/not-found"],
  ]) {
    const answer = await visit(path);
    assert.deepEqual([answer.status, answer.header("location")], [307, expected], path);
  }
});

test("returns 404 for an unknown problem, a page to browsers", async () => {
  assertProblem(await visit("/problems/nope"), 404, "not-found");
  const headers = [["Accept", "text/html,application/xhtml+xml,*/*;q=0.8"]];
  const page = await visit("/problems/nope", { headers });
  assert.equal(page.status, 404);
  assert.match(page.text, /Page not found/);
});

/** Requests that cause a problem, by the problem. */
const REQUESTS = {
  "invalid-request": { target: `${VIEWS}?limit=500` },
  "missing-token": { target: VIEWS, authorization: null },
  "invalid-token": { target: VIEWS, claims: { exp: 1_700_000_000 } },
  "insufficient-scope": { ...create("x"), claims: { scope: "jobs:read" } },
  "project-not-allowed": { target: VIEWS, claims: { projects: ["acme"] } },
  "origin-not-allowed": { target: VIEWS, headers: [["Origin", "https://evil.example"]] },
  "cross-site": {
    ...withCookie(),
    headers: [...withCookie().headers, ["Sec-Fetch-Site", "cross-site"]],
  },
  "session-ended": withCookie(),
  "sign-in-failed": { target: "/session/callback?state=x", authorization: null },
  "not-found": { target: "/nope" },
  "job-not-recorded": { target: `${JOBS}/nope/record` },
  "deployment-not-found": {
    target: "/v1/project/update-status/nope",
    claims: { scope: "deployments:read" },
  },
  "method-not-allowed": { target: JOBS },
  "archive-not-configured": { target: `${VIEWS}/daily?dateFrom=2026-01-01&dateTo=2026-01-02` },
  "unsupported-media-type": { ...create("x"), headers: [["Content-Type", "text/plain"]] },
  "idempotency-key-reused": { ...create("b"), headers: [["Idempotency-Key", "one-job"]] },
  "upstream-error": { target: `${JOBS}/nope` },
};

function create(prompt) {
  return { method: "POST", target: JOBS, json: { prompt } };
}

function withCookie() {
  return { target: VIEWS, authorization: null, headers: [["Cookie", "__Host-quillgate=x"]] };
}

test("the examples on the pages are responses of the gateway", async () => {
  await gate.send({ ...create("a"), headers: [["Idempotency-Key", "one-job"]] });
  for (const [kind, request] of Object.entries(REQUESTS)) {
    const answer = await gate.send(request);
    const page = readFileSync(join(ROOT, "docs", "problems", `${kind}.md`), "utf8");
    const [, head, body] = /^```http\n(.*?)\n\n(.*?)^```$/ms.exec(page);
    const expected = JSON.parse(body);
    assert.deepEqual({ ...JSON.parse(answer.text), instance: expected.instance }, expected);
    for (const line of head.split("\n").slice(1)) {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(line);
      assert.equal(answer.header(name.toLowerCase()), value, `${name} of ${kind}`);
    }
  }
});
