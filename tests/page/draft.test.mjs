import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fillStorage, standInForStorage } from "./browser_stand_ins.mjs";
import { column } from "./columns.mjs";
import { importSource } from "./source.mjs";
import { createGate } from "./waiting.mjs";

const stored = standInForStorage();
const { Draft } = await importSource("sending/draft.ts");
const { DEPLOYMENT } = await importSource("sending/send_kind.ts");
const { PersonData } = await importSource("session/person_data.ts");

let data;
let sent;
beforeEach(() => {
  stored.clear();
  data = new PersonData("zoë");
  sent = [];
});

const open = () => new Draft(data.entry("draft", "docs", "new"));

function write(text) {
  const draft = open();
  draft.edit(text);
  return draft;
}

/** Returns a request that notes in `sent` how it was sent, and has this answer. */
const request = (answer) => (_, how) => {
  sent.push(how);
  return answer(how);
};
const refuse = (name, status) =>
  Promise.reject(Object.assign(new Error("the connection broke"), { name, status }));
const succeed = request(async () => {});
const fail = request(() => refuse("Error"));
const lose = request(() => refuse("OutcomeUnknownError", 504));
const hang = request(
  ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
);
const countKeys = () => new Set(column(sent, "idempotencyKey")).size;

/** Sends a draft and edits it in another tab before the answer. Returns both texts. */
async function sendWhileEdited(answer, text) {
  const gate = createGate();
  const draft = write("one");
  const pending = draft.send(() => gate.opened.then(() => answer(null, {})));
  open().edit(text);
  gate.open();
  const isSent = await pending;
  return { draft, isSent, texts: [draft.text.value, open().text.value] };
}

for (const text of ["two", "one and more", ""]) {
  test(`"${text}" from another tab stays, whether sending succeeds or fails`, async () => {
    const { isSent, texts } = await sendWhileEdited(succeed, text);
    assert.deepEqual([isSent, texts], [true, [text, text]]);
    const failed = await sendWhileEdited(fail, text);
    assert.deepEqual([failed.isSent, failed.texts], [false, [text, text]]);
    assert.match(failed.draft.problem.value.cause, /connection broke/);
  });
}

test("a prompt typed in another tab during sending gets its own idempotency key", async () => {
  for (const answer of [succeed, fail, lose]) {
    sent = [];
    const { draft } = await sendWhileEdited(answer, "two");
    assert.equal(await draft.send(succeed), true);
    assert.equal(countKeys(), sent.length);
    assert.equal(stored.size, 0);
  }
});

test("a prompt sent by another tab keeps its idempotency key", async () => {
  for (const answer of [succeed, fail, lose]) {
    sent = [];
    const gate = createGate();
    const draft = write("one");
    const pending = draft.send(() => gate.opened.then(() => answer(null, {})));
    const other = open();
    other.edit("two");
    other.send(hang);
    gate.open();
    await pending;
    await draft.send(succeed);
    assert.equal(sent[0].idempotencyKey, sent.at(-1).idempotencyKey);
  }
});

test("a prompt that another tab’s prompt replaced keeps its idempotency key", async () => {
  for (const [name, status] of [["Error"], ["OutcomeUnknownError", 504]]) {
    sent = [];
    const gate = createGate();
    const draft = write("one");
    const pending = draft.send(request(() => gate.opened.then(() => refuse(name, status))));
    const other = open();
    other.edit("two");
    other.send(hang);
    gate.open();
    await pending;
    draft.edit("one");
    await draft.sendAnyway(succeed);
    assert.equal(sent[0].idempotencyKey, sent.at(-1).idempotencyKey);
    assert.equal(sent.at(-1).force, status !== undefined);
  }
});

test("a prompt in doubt stays in doubt when it is restored", async () => {
  const { draft } = await sendWhileEdited(lose, "two");
  draft.edit("one");
  assert.equal(await draft.send(() => assert.fail("sent")), false);
});

test("a failed prompt stays in this tab if another tab discarded it", async () => {
  const gate = createGate();
  const draft = write("one");
  const pending = draft.send(() => gate.opened.then(() => refuse("Error")));
  open().discard();
  gate.open();
  await pending;
  assert.deepEqual([draft.text.value, open().text.value], ["one", "one"]);
});

test("a prompt keeps its idempotency key until it has been sent", async () => {
  const draft = write("Fix the typos");
  await draft.send(fail);
  await draft.send(succeed);
  assert.equal(countKeys(), 1);
  draft.edit("Fix the typos");
  await draft.send(succeed);
  assert.equal(countKeys(), 2);
  assert.deepEqual(column(sent, "isRetry"), [false, true, false]);
});

test("a changed prompt gets a new idempotency key", async () => {
  const draft = write("one");
  await draft.send(fail);
  draft.edit("two");
  await draft.send(fail);
  assert.equal(countKeys(), 2);
});

test("a reload keeps the prompt and its idempotency key", async () => {
  await write("Fix the typos").send(fail);
  const reloaded = open();
  assert.equal(reloaded.text.value, "Fix the typos");
  await reloaded.send(fail);
  assert.deepEqual([sent.length, countKeys()], [2, 1]);
});

test("a prompt is not sent twice while its request is pending", async () => {
  const gate = createGate();
  const draft = write("once");
  const submit = request(() => gate.opened);
  const first = draft.send(submit);
  assert.equal(await draft.send(submit), false);
  gate.open();
  assert.equal(await first, true);
  assert.equal(sent.length, 1);
});

test("a reload sends a pending prompt again with its idempotency key, not forced", () => {
  write("once").send(hang);
  open().send(hang);
  assert.deepEqual(column(sent, "force"), [false, false]);
  assert.equal(countKeys(), 1);
});

test("a failure keeps the prompt and its reason, and a success clears both", async () => {
  const draft = write("text");
  assert.equal(await draft.send(fail), false);
  assert.equal(draft.text.value, "text");
  assert.match(draft.problem.value.cause, /connection broke/);
  assert.equal(await draft.send(succeed), true);
  assert.deepEqual([draft.text.value, draft.problem.value], ["", null]);
  assert.equal(stored.size, 0);
});

test("a prompt in doubt is sent again only by sendAnyway, forced and with its key", async () => {
  const draft = write("Fix the typos");
  await draft.send(lose);
  assert.equal(draft.problem.value.remedy, "look first");
  assert.equal(await draft.send(lose), false);
  draft.putAside();
  assert.equal(draft.problem.value, null);
  assert.equal(await draft.send(lose), false);
  assert.equal(draft.problem.value.remedy, "look first");
  assert.equal(sent.length, 1);

  await draft.sendAnyway(lose);
  await draft.sendAnyway(succeed);
  assert.deepEqual(column(sent, "force"), [false, true, true]);
  assert.equal(countKeys(), 1);
  assert.deepEqual([draft.text.value, draft.problem.value], ["", null]);
});

test("a prompt in doubt is still in doubt after a reload", async () => {
  await write("Fix the typos").send(lose);
  const reloaded = open();
  assert.equal(reloaded.problem.value.remedy, "look first");
  assert.equal(await reloaded.send(() => assert.fail("sent")), false);
});

test("a changed prompt is not in doubt", async () => {
  const draft = write("one");
  await draft.send(lose);
  draft.edit("two");
  assert.equal(await draft.sendAnyway(succeed), true);
  assert.deepEqual(column(sent, "force"), [false, false]);
});

for (const [outcome, keys, name, statuses, earlier = []] of [
  ["discards", 2, "BadRequestError", [400, 401, 403, 404, 422, 429]],
  ["discards", 2, "ValidationError", [undefined]],
  ["discards", 2, "WasmLoadError", [undefined]],
  ["keeps", 1, "ServerError", [408, 409, 421, 500, 503]],
  ["keeps", 1, "ConnectionError", [undefined]],
  ["of a retry keeps", 1, "PermissionError", [401, 403, 429], [fail]],
  ["of a retry keeps", 1, "ValidationError", [undefined], [fail]],
]) {
  for (const status of statuses) {
    test(`a ${name} with the status ${status} ${outcome} the idempotency key`, async () => {
      const draft = write("Fix the typos");
      for (const answer of earlier) await draft.send(answer);
      await draft.send(request(() => refuse(name, status)));
      await draft.send(succeed);
      assert.deepEqual([sent.length, countKeys()], [2 + earlier.length, keys]);
    });
  }
}

test("sending a cancelled prompt again uses its idempotency key", async () => {
  const draft = write("Fix the typos");
  const pending = draft.send(hang);
  draft.cancel();
  assert.equal(await pending, false);
  assert.deepEqual([draft.sending.value, draft.text.value], [false, "Fix the typos"]);
  assert.match(draft.problem.value.title, /stopped waiting/);
  await open().send(succeed);
  assert.deepEqual(column(sent, "force"), [false, false]);
  assert.equal(countKeys(), 1);
});

test("a prompt whose session was closed keeps its key, and sending it again is safe", async () => {
  const draft = write("Fix the typos");
  assert.equal(await draft.send(request(() => refuse("AbortError"))), false);
  assert.match(draft.problem.value.title, /stopped waiting/);
  assert.equal(draft.hasSent("Fix the typos"), true);
  await open().send(succeed);
  assert.deepEqual([column(sent, "force"), countKeys()], [[false, false], 1]);
});

test("sending a cancelled forced prompt again is not forced", async () => {
  const draft = write("Fix the typos");
  await draft.send(lose);
  const pending = draft.sendAnyway(hang);
  draft.cancel();
  await pending;
  await draft.send(succeed);
  assert.equal(sent.at(-1).force, false);
});

test("a prompt is in doubt once the gateway no longer stores its key", async () => {
  await write("Fix the typos").send(fail);
  const [name] = stored.keys();
  const saved = JSON.parse(stored.get(name));
  saved.attempt.sentAt -= 24 * 3_600_000;
  stored.set(name, JSON.stringify(saved));
  const later = open();
  assert.equal(later.problem.value.remedy, "look first");
  assert.equal(await later.send(() => assert.fail("sent")), false);
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Returns the attempt to deploy. A reload returns it too. */
function deployment() {
  const draft = new Draft(data.entry("deployment", "docs", "site"), DEPLOYMENT);
  if (draft.isEmpty.value) draft.edit("site");
  return draft;
}

/** Starts a deployment that times out, and starts it again after a time and a reload. */
async function startAgain(t, time) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const draft = deployment();
  await draft.send(request(() => refuse("RequestTimeoutError")));
  assert.match(draft.problem.value.advice, /starts it only once/);
  draft.putAside();
  t.mock.timers.setTime(Date.now() + time);
  const reloaded = deployment();
  await reloaded.send(succeed);
  return reloaded;
}

for (const minutes of [3, 22 * 60]) {
  test(`a deployment keeps its key for ${minutes} minutes after a timeout`, async (t) => {
    await startAgain(t, minutes * MINUTE);
    assert.deepEqual([column(sent, "force"), countKeys()], [[false, false], 1]);
  });
}

for (const [name, time] of [
  ["the gateway no longer stores its key", 24 * HOUR],
  ["the clock was set back", -30 * HOUR],
]) {
  test(`a deployment is in doubt once ${name}`, async (t) => {
    const draft = await startAgain(t, time);
    assert.deepEqual([sent.length, draft.problem.value.remedy], [1, "look first"]);
    assert.match(draft.problem.value.cause, /a second time/);
    await draft.sendAnyway(succeed);
    assert.deepEqual([column(sent, "force"), countKeys()], [[false, true], 1]);
  });
}

test("a deployment with an unknown outcome keeps its key and asks first", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const draft = deployment();
  await draft.send(lose);
  t.mock.timers.tick(3 * MINUTE);
  assert.equal(await draft.send(succeed), false);
  await draft.sendAnyway(succeed);
  assert.deepEqual([column(sent, "force"), countKeys()], [[false, true], 1]);
});

test("a deployment gets a new key after its record was deleted, and a prompt does not", async () => {
  const deleted = () =>
    Promise.reject(
      Object.assign(new Error("gone"), { status: 409, code: "/problems/record-deleted" }),
    );
  for (const [draft, keys] of [
    [deployment(), 2],
    [write("Fix the typos"), 1],
  ]) {
    sent = [];
    await draft.send(request(deleted));
    assert.match(draft.problem.value.title, /sent this before/);
    await draft.send(succeed);
    assert.deepEqual([sent.length, countKeys()], [2, keys]);
  }
});

test("a draft stores nothing after its person has signed out", async () => {
  const gate = createGate();
  const pending = write("Fix the typos").send(() => gate.opened.then(() => refuse("Error")));
  data.forget();
  gate.open();
  await pending;
  assert.equal(stored.size, 0);
});

test("a draft that storage refuses has a mark, and outlasts its session in this tab", () => {
  const draft = write("Fix the typos");
  assert.equal(draft.isRefused.value, false);
  const makeRoom = fillStorage();
  draft.edit("Fix the typos and the links");
  assert.equal(draft.isRefused.value, true);
  assert.equal(data.refusedDrafts(), 1);
  assert.equal(open().text.value, "Fix the typos and the links");
  makeRoom();
  draft.edit("Fix all");
  assert.equal(draft.isRefused.value, false);
  assert.equal(data.refusedDrafts(), 0);
});
