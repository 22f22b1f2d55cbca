import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fillStorage, standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

const stored = standInForStorage();
standInForWindow();
const { PersonData } = await importSource("session/person_data.ts");
const { keyOf, prefixOf } = await importSource("shell/storage.ts");
const { SESSION_WORDS } = await importSource("session/words.ts");
const PREFERENCES = "quillgate.preferences";
beforeEach(() => stored.clear());

test("keys of different parts differ, and only longer lists share a prefix", () => {
  assert.equal(keyOf("half of a pair \ud83d"), "quillgate.half%20of%20a%20pair%20%EF%BF%BD");
  const parts = ["a", "a.b", "a/b", "a%2Eb", "b", "", "zoë", "a.", "."];
  const lists = parts.flatMap((one) => [[one], ...parts.map((other) => [one, other])]);
  const keys = lists.map((list) => keyOf(...list));
  assert.equal(new Set(keys).size, lists.length);
  for (const list of lists) {
    const found = lists.filter((other) => keyOf(...other).startsWith(prefixOf(...list)));
    const longer = lists.filter((other) => other.length > list.length && other[0] === list[0]);
    assert.deepEqual(found, longer, JSON.stringify(list));
  }
});

test("signing out deletes every kind of data, that of older builds too, and keeps preferences", () => {
  const data = new PersonData("zoë");
  stored.set(PREFERENCES, "{}");
  stored.set("quillgate.jobs.draft.zoë.docs.1", "{}");
  stored.set("of-another-application", "1");
  for (const kind of ["draft", "follow-up", "sent", "template", "view"]) {
    assert.equal(data.entry(kind, "docs", "1").write(kind), "stored");
  }
  for (const kind of ["site", "panel", "ranges"]) data.entry(kind, "docs").write(kind);
  assert.equal(sessionStorage.length, 3);
  data.forget();
  assert.deepEqual([...stored.keys()], [PREFERENCES, "of-another-application"]);
  assert.equal(sessionStorage.length, 0);
});

test("a sign-out in another tab deletes only what this tab has", () => {
  const data = new PersonData("zoë");
  data.entry("site", "docs").write("https://docs.test");
  const before = new Map(stored);
  stored.set("quillgate.own.next.draft.docs.1", '"of the next person, from another tab"');
  data.forget("this tab");
  assert.equal(sessionStorage.length, 0);
  assert.deepEqual([...stored.keys()], [...before.keys(), "quillgate.own.next.draft.docs.1"]);
});

test("data that was deleted does not come back", () => {
  const data = new PersonData("zoë");
  const entry = data.entry("draft", "docs", "1");
  const makeRoom = fillStorage();
  entry.write("only in memory");
  makeRoom();
  data.forget();
  entry.write("written too late");
  assert.equal(entry.read(), null);
  assert.equal(stored.size, 0);
});

test("another person's sign-in deletes the data, and the same person's keeps it", () => {
  new PersonData("zoë").entry("draft", "docs", "1").write("Half a thought");
  new PersonData("zoë").entry("site", "docs").write("https://docs.test");
  assert.equal(new PersonData("zoë").entry("draft", "docs", "1").read(), "Half a thought");
  for (const similar of ["zo", "zoë.", "zoë.draft"]) {
    new PersonData("zoë").entry("draft", "docs", "1").write("Half a thought");
    assert.equal(new PersonData(similar).entry("draft", "docs", "1").read(), null);
    assert.deepEqual([stored.size, sessionStorage.length], [0, 0], similar);
  }
});

test("a value that storage refuses stays in memory and is counted", () => {
  const data = new PersonData("zoë");
  const entry = data.entry("draft", "docs", "1");
  entry.write("Stored");
  const makeRoom = fillStorage();
  assert.equal(entry.write("Refused"), "until reload");
  assert.equal(entry.read(), "Refused");
  assert.deepEqual(data.loss(), { drafts: 1, views: 0, templates: 0 });
  assert.equal(data.entry("follow-up", "docs", "2").write("Refused"), "until reload");
  assert.equal(data.refusedDrafts(), 2);
  assert.equal(data.loss().drafts, 2);
  makeRoom();
  assert.equal(entry.write("Stored again"), "stored");
  assert.equal(data.refusedDrafts(), 1);
});

test("a blank draft is no loss", () => {
  const data = new PersonData("zoë");
  data.entry("draft", "docs", "1").write({ text: " \n", attempt: null });
  data.entry("follow-up", "docs", "2").write({ text: "", attempt: { text: "Sent" } });
  data.entry("draft", "docs", "3").write({ text: "Half a thought", attempt: null });
  assert.equal(data.loss().drafts, 1);
  const makeRoom = fillStorage();
  data.entry("draft", "docs", "1").write({ text: "  ", attempt: null });
  assert.equal(data.refusedDrafts(), 0);
  makeRoom();
});

test("disabled storage keeps everything in memory", () => {
  const { localStorage } = globalThis;
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get: () => {
      throw new DOMException("denied", "SecurityError");
    },
  });
  try {
    const data = new PersonData("zoë");
    assert.equal(data.entry("view", "docs", "1").write("A view"), "until reload");
    assert.equal(data.entries("view", "docs").length, 1);
    data.forget();
    assert.equal(data.entries("view", "docs").length, 0);
  } finally {
    Object.defineProperty(globalThis, "localStorage", { value: localStorage, writable: true });
  }
});

test("drafts are called saved only if all of them are stored", () => {
  assert.match(SESSION_WORDS.ended(0), /Your drafts are saved\.$/);
  assert.match(SESSION_WORDS.ended(2), /couldn’t save 2 drafts\. Keep this tab open\.$/);
  assert.match(SESSION_WORDS.endsSoon("5 minutes", 1), /couldn’t save 1 draft\./);
});
