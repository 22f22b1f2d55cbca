import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { standInForStorage } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

const stored = standInForStorage();
const drafts = await importSource("jobs/draft.ts");
const NEVER = new AbortController().signal;

class Draft extends drafts.Draft {
  constructor(name, ended = NEVER) {
    super(name, ended);
  }
}
beforeEach(() => stored.clear());

const fail = () => Promise.reject(new Error("the connection broke"));

test("the same text keeps its idempotency key until it was sent", async () => {
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

test("another text has another key", async () => {
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

test("a reload keeps the text and the key of its attempt", async () => {
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

const refuse = (name, status) =>
  Promise.reject(Object.assign(new Error("refused"), { name, status }));
const lose = () => refuse("OutcomeUnknownError", 504);

test("what may have arrived is sent again only on purpose, with its key and by force", async () => {
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

test("a reload does not forget that a text may have arrived", async () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  await draft.send(lose);
  const reloaded = new Draft("new");
  assert.equal(reloaded.problem.value.remedy, "look first");
  assert.equal(await reloaded.send(() => assert.fail("sent")), false);
});

test("another text is not what may have arrived", async () => {
  const draft = new Draft("new");
  draft.edit("one");
  await draft.send(lose);
  draft.edit("two");
  const sent = [];
  assert.equal(await draft.sendAnyway(async (_, how) => sent.push(how)), true);
  assert.equal(sent[0].force, false);
});

test("a definite refusal frees the text of its key, any other failure does not", async () => {
  const keyAfter = async (name, status) => {
    const keys = [];
    const draft = new Draft(`${name} ${status}`);
    draft.edit("Fix the typos");
    await draft.send((_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return refuse(name, status);
    });
    await draft.send(async (_, { idempotencyKey }) => keys.push(idempotencyKey));
    return keys[0] === keys[1] ? "the same" : "another";
  };
  for (const status of [400, 404, 422]) {
    assert.equal(await keyAfter("BadRequestError", status), "another", `${status}`);
  }
  for (const status of [401, 403, 408, 409, 429, 500, 503]) {
    assert.equal(await keyAfter("ServerError", status), "the same", `${status}`);
  }
  assert.equal(await keyAfter("ConnectionError", undefined), "the same");
});

test("whoever no longer waits gets the same job by sending the text again", async () => {
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

test("what was sent by force and then not waited for is sent again by its key, without force", async () => {
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

test("a key that the gateway has forgotten by now is in doubt", async () => {
  const draft = new Draft("new");
  draft.edit("Fix the typos");
  await draft.send(fail);
  const [name] = stored.keys();
  const kept = JSON.parse(stored.get(name));
  kept.attempt.sentAt -= 24 * 3_600_000;
  stored.set(name, JSON.stringify(kept));
  const later = new Draft("new");
  assert.equal(later.problem.value.remedy, "look first");
  assert.equal(await later.send(() => assert.fail("sent")), false);
});

test("a session that has ended leaves nothing behind", async () => {
  const end = new AbortController();
  const draft = new Draft("new", end.signal);
  draft.edit("Fix the typos");
  const sent = draft.send(
    () => new Promise((_, reject) => end.signal.addEventListener("abort", reject)),
  );
  end.abort();
  stored.clear();
  await sent;
  assert.equal(stored.size, 0);
});
