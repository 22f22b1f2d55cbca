/**
 * Drafts of prompts: their idempotency keys, sending with an unknown outcome, cancelling, and
 * reloads.
 */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fillStorage, standInForStorage } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

const stored = standInForStorage();
const drafts = await importSource("sending/draft.ts");
const { PersonData } = await importSource("session/person_data.ts");

class Draft extends drafts.Draft {
  constructor(id, person = data) {
    super(person.entry("draft", "docs", id));
  }
}
let data;
beforeEach(() => {
  stored.clear();
  data = new PersonData("zoë");
});

const fail = () => Promise.reject(new Error("the connection broke"));

test("a prompt keeps its idempotency key until it has been sent", async () => {
  const keys = [];
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  const note = (_, { idempotencyKey }) => keys.push(idempotencyKey);
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

test("a changed prompt gets a new idempotency key", async () => {
  const keys = [];
  const draft = new Draft("new");
  for (const text of ["one", "two"]) {
    draft.edit(text);
    await draft.send((_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return fail();
    });
  }
  assert.equal(new Set(keys).size, 2);
});

test("a reload keeps the prompt and its idempotency key", async () => {
  const keys = [];
  const note = (_, { idempotencyKey }) => {
    keys.push(idempotencyKey);
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

test("a prompt is not sent twice while its request is pending", async () => {
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

test("a reload sends a pending prompt again with its idempotency key, not forced", () => {
  const sent = [];
  const hang = (_, how) => {
    sent.push([how.idempotencyKey, how.force]);
    return new Promise(() => {});
  };
  const draft = new Draft("new");
  draft.edit("once");
  draft.send(hang);
  new Draft("new").send(hang);
  const [[key]] = sent;
  assert.deepEqual(sent, [
    [key, false],
    [key, false],
  ]);
});

test("a failure keeps the prompt and its reason, and a success clears both", async () => {
  const draft = new Draft("new");
  draft.edit("text");
  assert.equal(await draft.send(fail), false);
  assert.equal(draft.text.value, "text");
  assert.match(draft.problem.value.cause, /connection broke/);
  assert.equal(await draft.send(async () => {}), true);
  assert.deepEqual([draft.text.value, draft.problem.value], ["", null]);
  assert.equal(stored.size, 0);
});

const refuse = (name, status) =>
  Promise.reject(Object.assign(new Error("refused"), { name, status }));
const lose = () => refuse("OutcomeUnknownError", 504);

test("a prompt in doubt is sent again only by sendAnyway, forced and with its key", async () => {
  const sent = [];
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  const lost = (_, how) => {
    sent.push(how);
    return lose();
  };
  await draft.send(lost);
  assert.equal(draft.problem.value.remedy, "look first");
  assert.equal(await draft.send(lost), false);
  draft.putAside();
  assert.equal(draft.problem.value, null);
  assert.equal(await draft.send(lost), false);
  assert.equal(draft.problem.value.remedy, "look first");
  assert.equal(sent.length, 1);

  await draft.sendAnyway(lost);
  await draft.sendAnyway(async (_, how) => sent.push(how));
  assert.deepEqual(
    sent.map(({ force }) => force),
    [false, true, true],
  );
  assert.equal(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
  assert.deepEqual([draft.text.value, draft.problem.value], ["", null]);
});

test("a prompt in doubt is still in doubt after a reload", async () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  await draft.send(lose);
  const reloaded = new Draft("new");
  assert.equal(reloaded.problem.value.remedy, "look first");
  assert.equal(await reloaded.send(() => assert.fail("sent")), false);
});

test("a changed prompt is not in doubt", async () => {
  const draft = new Draft("new");
  draft.edit("one");
  await draft.send(lose);
  draft.edit("two");
  const sent = [];
  assert.equal(await draft.sendAnyway(async (_, how) => sent.push(how)), true);
  assert.equal(sent[0].force, false);
});

test("a definite rejection discards the idempotency key, other failures keep it", async () => {
  const keyAfter = async (name, status) => {
    const keys = [];
    const draft = new Draft(`${name} ${status}`);
    draft.edit("Fix the typos");
    await draft.send((_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return refuse(name, status);
    });
    await draft.send(async (_, { idempotencyKey }) => keys.push(idempotencyKey));
    return keys[0] === keys[1] ? "kept" : "discarded";
  };
  for (const status of [400, 404, 422]) {
    assert.equal(await keyAfter("BadRequestError", status), "discarded", `${status}`);
  }
  for (const status of [401, 403, 408, 409, 421, 429, 500, 503]) {
    assert.equal(await keyAfter("ServerError", status), "kept", `${status}`);
  }
  assert.equal(await keyAfter("ConnectionError", undefined), "kept");
});

test("sending a cancelled prompt again uses its idempotency key", async () => {
  const keys = [];
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  const hang = (_, { idempotencyKey, signal }) => {
    keys.push(idempotencyKey);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  const sent = draft.send(hang);
  draft.cancel();
  assert.equal(await sent, false);
  assert.deepEqual([draft.sending.value, draft.text.value], [false, "Fix the typos"]);
  assert.match(draft.problem.value.title, /stopped waiting/);
  const reloaded = new Draft("new");
  await reloaded.send(async (_, { idempotencyKey, force }) => {
    assert.equal(force, false);
    keys.push(idempotencyKey);
  });
  assert.equal(keys[0], keys[1]);
});

test("sending a cancelled forced prompt again is not forced", async () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  await draft.send(lose);
  const hang = (_, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const sent = draft.sendAnyway(hang);
  draft.cancel();
  await sent;
  const forced = [];
  await draft.send(async (_, { force }) => forced.push(force));
  assert.deepEqual(forced, [false]);
});

test("a prompt is in doubt once the gateway no longer stores its key", async () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  await draft.send(fail);
  const [name] = stored.keys();
  const saved = JSON.parse(stored.get(name));
  saved.attempt.sentAt -= 24 * 3_600_000;
  stored.set(name, JSON.stringify(saved));
  const later = new Draft("new");
  assert.equal(later.problem.value.remedy, "look first");
  assert.equal(await later.send(() => assert.fail("sent")), false);
});

test("a draft stores nothing after its person has signed out", async () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  let reject;
  const sent = draft.send(
    () =>
      new Promise((_, fail) => {
        reject = fail;
      }),
  );
  data.forget();
  reject(new Error("the session has ended"));
  await sent;
  assert.equal(stored.size, 0);
});

test("a draft that storage refuses has a mark, and outlasts its session in this tab", () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  assert.equal(draft.isRefused.value, false);
  const makeRoom = fillStorage();
  draft.edit("Fix the typos and the links");
  assert.equal(draft.isRefused.value, true);
  assert.equal(data.refusedDrafts(), 1);
  assert.equal(new Draft("new").text.value, "Fix the typos and the links");
  makeRoom();
  draft.edit("Fix all");
  assert.equal(draft.isRefused.value, false);
  assert.equal(data.refusedDrafts(), 0);
});
