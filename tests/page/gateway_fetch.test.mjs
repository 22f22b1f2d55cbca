import assert from "node:assert/strict";
import { test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForStorage();
standInForWindow();
const { request } = await importSource("session/gateway_session.ts");
const { fetchGateway } = await importSource("shell/gateway_fetch.ts");
const { describeProblem } = await importSource("shell/problem.ts");

/** Sends a request that gets an answer. Returns the request and the page's answer. */
async function send(status, headers, ask = fetchGateway) {
  let sent;
  globalThis.fetch = async (url, init) => {
    sent = { url, ...init };
    return new Response("<h1>An answer</h1>", { status, headers });
  };
  const response = await ask("/session/methods", {});
  return { sent, response };
}

async function problemOf(status, headers = {}) {
  const { response } = await send(status, { "content-type": "text/html", ...headers });
  const { type, detail } = await response.json();
  const fields = { status: response.status, code: type, problem: { detail } };
  return describeProblem(Object.assign(new Error("an answer"), fields), Date.now());
}

test("a request about sessions bypasses the browser’s cache, whose dates are old", async () => {
  const { sent } = await send(200, { "content-type": "application/json" }, (path) =>
    request("GET", path),
  );
  assert.equal(sent.cache, "no-store");
});

test("a sign-in page of a proxy ends the session", async () => {
  for (const status of [200, 401]) {
    const { title, remedy } = await problemOf(status);
    assert.equal(title, "Your session ended");
    assert.equal(remedy, "reload");
  }
});

test("a firewall that refuses a request does not end the session", async () => {
  const blocked = await problemOf(403);
  assert.match(blocked.title, /firewall/);
  assert.equal(blocked.remedy, "retry");
  const challenged = await problemOf(403, { "cf-mitigated": "challenge" });
  assert.equal(challenged.remedy, "reload");
  assert.doesNotMatch(blocked.cause + challenged.cause, /session|421/);
});
