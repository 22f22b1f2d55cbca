/** The session that all tabs of a browser share: its news, its checks and its requests. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { bundleSource } from "./source.mjs";

// The page's clock must not keep the process alive.
const { setInterval } = globalThis;
globalThis.setInterval = (...timer) => setInterval(...timer).unref();

const MODULE = await bundleSource("session/session.ts");
const claimsOf = (subject) => ({
  issuer: null,
  subject,
  projects: ["acme"],
  archivedProjects: [],
  scopes: ["jobs:read"],
  keepsPrompts: "whole",
  expiresAt: Date.now() + 3_600_000,
});
let documents = 0;
let news;
let channel;
let requests;

/** The other tabs of the browser. `channel` is this tab's end. */
globalThis.BroadcastChannel = class extends EventTarget {
  constructor() {
    super();
    channel = this;
  }
  postMessage(message) {
    news.push(message);
  }
};
globalThis.fetch = (url) =>
  new Promise((resolve, reject) => requests.push({ url, resolve, reject }));

beforeEach(() => {
  standInForStorage();
  standInForWindow();
  globalThis.history.replaceState = (_state, _, url) => {
    globalThis.location.search = new URL(url, "https://gateway.test").search;
  };
  news = [];
  requests = [];
});

/** Loads the page. Returns its session module. */
async function load(search) {
  globalThis.location.search = search;
  globalThis.location.href = `https://gateway.test/${search}`;
  documents += 1;
  const loaded = await import(`${MODULE}#${documents}`);
  loaded.followSession();
  return loaded;
}

/** Answers the oldest request for the session. Without a subject, the cookie is not valid. */
async function answer(subject) {
  await settle();
  const { url, resolve } = requests.shift();
  assert.equal(url, "/session");
  resolve(
    subject === null
      ? Response.json({}, { status: 401 })
      : Response.json(claimsOf(subject), { headers: { date: new Date().toUTCString() } }),
  );
  await settle();
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const hear = (data) => channel.dispatchEvent(Object.assign(new Event("message"), { data }));

test("a sign-in at an issuer is announced to other tabs once", async () => {
  const { phase, takeUpSession } = await load("?route=jobs&project=acme&signed-in=");
  await answer("carol");
  assert.equal(phase.peek().name, "signed in");
  assert.deepEqual(news, ["signed in"]);
  assert.equal(globalThis.location.search, "?route=jobs&project=acme");
  takeUpSession("changed elsewhere");
  await answer("carol");
  assert.deepEqual(news, ["signed in"]);
});

test("a superseded sign-in is announced and takes effect", async () => {
  const { phase, takeUp, takeUpSession } = await load("?route=jobs");
  let open;
  const taken = takeUp(
    () =>
      new Promise((resolve) => {
        open = resolve;
      }),
  );
  await settle();
  takeUpSession("changed elsewhere");
  open(claimsOf("carol"));
  await settle();
  assert.deepEqual(news, ["signed in"]);
  await answer(null);
  await answer("carol");
  await taken;
  assert.equal(phase.peek().claims?.subject, "carol");
});

test("a sign-in that a sign-out supersedes is checked after the sign-out", async () => {
  const { phase, signOut, takeUp } = await load("?route=jobs");
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  const taken = takeUp(() => opened);
  await settle();
  signOut();
  open(claimsOf("carol"));
  await settle();
  assert.equal(requests.length, 1);
  requests.shift().resolve(new Response(null, { status: 204 }));
  await answer(null);
  await taken;
  assert.equal(phase.peek().name, "signed out");
});

test("a sign-in ends the repetition of a failed check", async () => {
  const { takeUp, takeUpSession } = await load("?route=jobs");
  takeUpSession("changed elsewhere");
  await settle();
  requests.shift().reject(new TypeError("no connection"));
  await settle();
  takeUp(() => new Promise(() => {}));
  await settle();
  globalThis.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.deepEqual(requests, []);
});

test("a request waits for every check that starts meanwhile", async () => {
  const { session, takeUpSession } = await load("?route=jobs&signed-in=");
  await answer("carol");
  takeUpSession("changed elsewhere");
  const { send } = session.peek();
  const refused = assert.rejects(send("/v1/jobs", {}), { name: "AbortError" });
  await settle();
  takeUpSession("changed elsewhere");
  await answer("carol");
  assert.deepEqual(
    requests.map(({ url }) => url),
    ["/session"],
  );
  await answer("dave");
  await refused;
  assert.deepEqual(requests, []);
});

test("a sign-out in another tab during a check repeats the check", async () => {
  const { phase } = await load("?route=jobs&signed-in=");
  await settle();
  hear("signed out");
  await answer("carol");
  assert.equal(phase.peek().name, "checking");
  await answer(null);
  assert.equal(phase.peek().name, "signed out");
});

test("a sign-out in another tab deletes what this tab has of an expired session", async () => {
  const { phase, replaceSession } = await load("?route=jobs&signed-in=");
  await answer("carol");
  globalThis.sessionStorage.setItem("quillgate.own.carol.panel", "true");
  replaceSession();
  assert.equal(phase.peek().name, "signed out");
  hear("signed out");
  assert.equal(globalThis.sessionStorage.getItem("quillgate.own.carol.panel"), null);
});
