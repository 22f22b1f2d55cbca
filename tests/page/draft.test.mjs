import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { importSource } from "./source.mjs";

const { Draft } = await importSource("draft.ts");

const stored = new Map();
globalThis.sessionStorage = {
  getItem: (name) => stored.get(name) ?? null,
  setItem: (name, value) => stored.set(name, value),
  removeItem: (name) => stored.delete(name),
};
beforeEach(() => stored.clear());

const fail = () => Promise.reject(new Error("the connection broke"));

test("the same text keeps its idempotency key until it was sent", async () => {
  const keys = [];
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  const note = (_, key) => keys.push(key);
  await draft.send((...args) => {
    note(...args);
    return fail();
  });
  await draft.send(async (...args) => note(...args));
  draft.edit("Fix the typos");
  await draft.send(async (...args) => note(...args));
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[1], keys[2]);
});

test("another text has another key", async () => {
  const keys = [];
  const draft = new Draft("new");
  for (const text of ["one", "two"]) {
    draft.edit(text);
    await draft.send((_, key) => {
      keys.push(key);
      return fail();
    });
  }
  assert.equal(new Set(keys).size, 2);
});

test("a reload keeps the text and the key of its attempt", async () => {
  const keys = [];
  const note = (_, key) => {
    keys.push(key);
    return fail();
  };
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  await draft.send(note);
  const reloaded = new Draft("new");
  assert.equal(reloaded.text.value, "Fix the typos");
  await reloaded.send(note);
  assert.equal(keys[0], keys[1]);
});

test("what is on its way is not sent a second time", async () => {
  let calls = 0;
  let answer;
  const draft = new Draft("new");
  draft.edit("once");
  const submit = () => {
    calls += 1;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const first = draft.send(submit);
  assert.equal(await draft.send(submit), false);
  answer();
  assert.equal(await first, true);
  assert.equal(calls, 1);
});

test("a failure keeps the text and says why; a success clears both", async () => {
  const draft = new Draft("new");
  draft.edit("text");
  assert.equal(await draft.send(fail), false);
  assert.equal(draft.text.value, "text");
  assert.match(draft.problem.value.cause, /connection broke/);
  assert.equal(await draft.send(async () => {}), true);
  assert.deepEqual([draft.text.value, draft.problem.value], ["", null]);
  assert.equal(stored.size, 0);
});
