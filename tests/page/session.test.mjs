import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { column } from "./columns.mjs";
import { bundleSource, importSource } from "./source.mjs";
import { createGate, until } from "./waiting.mjs";

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

async function load(search) {
  globalThis.location.search = search;
  globalThis.location.href = `https://gateway.test/${search}`;
  documents += 1;
  const loaded = await import(`${MODULE}#${documents}`);
  loaded.followSession();
  return loaded;
}

/** Answers the next request for the session. Without a subject, the cookie is not valid. */
async function answer(subject) {
  await until(() => requests.length > 0);
  const { url, resolve } = requests.shift();
  assert.equal(url, "/session");
  resolve(
    subject === null
      ? Response.json({}, { status: 401 })
      : Response.json(claimsOf(subject), { headers: { date: new Date().toUTCString() } }),
  );
}

const hear = (data) => channel.dispatchEvent(Object.assign(new Event("message"), { data }));

async function loadSignedIn(subject) {
  const loaded = await load("?route=jobs&signed-in=");
  await answer(subject);
  await until(() => loaded.phase.peek().name === "signed in");
  return loaded;
}

/** Starts a sign-in. Returns functions that answer it and that wait for its end. */
async function startSignIn(takeUp) {
  const { opened, open } = createGate();
  let isAsked = false;
  const taken = takeUp(() => {
    isAsked = true;
    return opened;
  });
  await until(() => isAsked);
  return { open, taken };
}

test("a sign-in at an issuer is announced to other tabs once", async () => {
  const { phase, takeUpSession } = await load("?route=jobs&project=acme&signed-in=");
  await answer("carol");
  await until(() => phase.peek().name === "signed in");
  assert.deepEqual(news, ["signed in"]);
  assert.equal(globalThis.location.search, "?route=jobs&project=acme");
  const checked = takeUpSession("changed elsewhere");
  await answer("carol");
  await checked;
  assert.deepEqual(news, ["signed in"]);
});

test("a superseded sign-in is announced and takes effect", async () => {
  const { phase, takeUp, takeUpSession } = await load("?route=jobs");
  const { open, taken } = await startSignIn(takeUp);
  takeUpSession("changed elsewhere");
  open(claimsOf("carol"));
  await until(() => news.length > 0);
  assert.deepEqual(news, ["signed in"]);
  await answer(null);
  await answer("carol");
  await taken;
  assert.equal(phase.peek().claims?.subject, "carol");
});

test("a sign-in that a sign-out supersedes is checked after the sign-out", async () => {
  const { phase, signOut, takeUp } = await load("?route=jobs");
  const { open, taken } = await startSignIn(takeUp);
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
  const checked = takeUpSession("changed elsewhere");
  await until(() => requests.length > 0);
  requests.shift().reject(new TypeError("no connection"));
  await checked;
  await startSignIn(takeUp);
  globalThis.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.deepEqual(requests, []);
});

test("a request waits for every check that starts meanwhile", async () => {
  const { session, takeUpSession } = await loadSignedIn("carol");
  takeUpSession("changed elsewhere");
  const { send } = session.peek();
  const refused = assert.rejects(send("/v1/jobs", {}), { name: "AbortError" });
  await until(() => requests.length > 0);
  const last = takeUpSession("changed elsewhere");
  await answer("carol");
  await until(() => requests.length > 0);
  assert.deepEqual(column(requests, "url"), ["/session"]);
  await answer("dave");
  await last;
  await refused;
  assert.deepEqual(requests, []);
});

test("a sign-out in another tab during a check repeats the check", async () => {
  const { phase } = await load("?route=jobs&signed-in=");
  await until(() => requests.length > 0);
  hear("signed out");
  await answer("carol");
  await until(() => requests.length > 0);
  assert.equal(phase.peek().name, "checking");
  await answer(null);
  await until(() => phase.peek().name !== "checking");
  assert.equal(phase.peek().name, "signed out");
});

test("a sign-out in another tab deletes what this tab has of an expired session", async () => {
  const { phase, replaceSession } = await loadSignedIn("carol");
  globalThis.sessionStorage.setItem("quillgate.own.carol.panel", "true");
  replaceSession();
  assert.equal(phase.peek().name, "signed out");
  hear("signed out");
  assert.equal(globalThis.sessionStorage.getItem("quillgate.own.carol.panel"), null);
});

test("a late message about a sign-out keeps the sign-in of the next person", async () => {
  const { phase } = await loadSignedIn("carol");
  globalThis.localStorage.setItem("quillgate.signed-in-until", "1");
  hear("signed out");
  assert.equal(phase.peek().name, "signed out");
  assert.equal(globalThis.localStorage.getItem("quillgate.signed-in-until"), "1");
});

test("the address of a failed sign-in keeps the state of its history entry", async () => {
  const { noteSignInStart, restoreAddress } = await importSource("session/sign_in_return.ts");
  const replaced = [];
  const state = { era: "of the first person" };
  globalThis.history = { state, replaceState: (...entry) => replaced.push(entry) };
  globalThis.location.search = "?route=views";
  noteSignInStart();
  globalThis.location.search = "?sign-in-failed=denied";
  restoreAddress();
  assert.deepEqual(replaced, [[state, "", "?route=views&sign-in-failed=denied"]]);
});
