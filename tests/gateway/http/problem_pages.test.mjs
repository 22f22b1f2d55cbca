/** The gateway serves a page about each problem at the address in the problem's `type`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../../scripts/versions.mjs";
import { assertProblem, before, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";
import { assertGuarded } from "./guarded.mjs";

const gate = useGate("problem-pages");
let kinds;

before(async () => {
  const { components } = JSON.parse((await visit("/openapi.json")).text);
  const schemas = Object.values(components.schemas).filter(({ allOf }) => allOf);
  kinds = schemas.map(({ properties }) => ({
    path: properties.type.const,
    title: properties.title.examples[0],
  }));
});

const visit = (target, options = {}) => gate.get(target, { authorization: null, ...options });

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
  const files = [...text.matchAll(/<(?:link|img)\b[^>]*\s(?:href|src)="([^"]*)"/g)];
  assert.deepEqual(
    files.map(([, file]) => file),
    ["/favicon.svg", "/problems/style.css"],
  );
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
  for (const [kind, { claims, ...request }] of Object.entries(REQUESTS)) {
    const token = claims && { authorization: `Bearer ${gate.token(claims)}` };
    const answer = await gate.send({ ...request, ...token });
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
