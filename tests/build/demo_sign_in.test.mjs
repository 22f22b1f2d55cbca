import assert from "node:assert/strict";
import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, test } from "node:test";
import { startDemoSignIn } from "../../scripts/demo_sign_in.mjs";
import { listen } from "../harness/listen.mjs";

const TOKEN = "header.payload.signature";
const COOKIE = "__Host-quillgate=id; Path=/; Secure; HttpOnly; SameSite=Strict";

const received = [];
const used = [];
let gateway;
let pageUrl;
let demo;

before(async () => {
  gateway = await listen(async (request, response) => {
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: await text(request) });
    response.writeHead(201, { "set-cookie": COOKIE }).end("{}");
  });
  pageUrl = gateway.url;
  demo = await startDemoSignIn({ pageUrl, token: TOKEN, onUse: (next) => used.push(next) });
});
after(async () => {
  await demo.stop();
  await gateway.stop();
});
beforeEach(() => {
  received.length = 0;
  used.length = 0;
});

/** Opens an address as a browser does, but follows no redirect. */
async function open(address, { method = "GET", headers = {} } = {}) {
  const sent = sendRequest(address, { method, headers }).end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

test("the sign-in link redirects to the page with the cookie of a new session", async () => {
  const { status, headers, text: page } = await open(demo.address());
  assert.equal(status, 303);
  assert.equal(headers.location, `${pageUrl}/?signed-in=`);
  assert.deepEqual(headers["set-cookie"], [COOKIE]);
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["referrer-policy"], "no-referrer");
  const [{ method, url, headers: sent, body }] = received;
  assert.deepEqual([method, url, sent.origin], ["POST", "/session", pageUrl]);
  assert.deepEqual(JSON.parse(body), { token: TOKEN });
  assert.ok(!JSON.stringify([headers, page]).includes(TOKEN));
});

test("a sign-in link works once and is replaced by a new one", async () => {
  const first = demo.address();
  assert.equal((await open(first)).status, 303);
  assert.deepEqual(used, [demo.address()]);
  assert.notEqual(demo.address(), first);
  assert.equal((await open(first)).status, 404);
  assert.equal(received.length, 1);
});

test("guesses, other methods, other hosts and prefetches do not use up a sign-in link", async () => {
  const address = demo.address();
  const refused = [
    await open(`${address}x`),
    await open(new URL("/sign-in/", address)),
    await open(new URL("/", address)),
    await open(address, { method: "POST" }),
    await open(address, { method: "HEAD" }),
    await open(address, { headers: { host: "evil.example" } }),
    await open(address, { headers: { "sec-purpose": "prefetch;prerender" } }),
    await open(address, { headers: { purpose: "prefetch" } }),
  ];
  for (const { status, headers } of refused) {
    assert.equal(status, 404);
    assert.equal(headers["set-cookie"], undefined);
  }
  assert.equal(received.length, 0);
  assert.equal((await open(address)).status, 303);
});
