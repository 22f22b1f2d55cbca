import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fillStorage, standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

const stored = standInForStorage();
const page = standInForWindow();
const { DraftShelf, MAX_DRAFTS } = await importSource("jobs/draft_shelf.ts");
const { MAX_TEMPLATES, TemplateShelf } = await importSource("jobs/templates.ts");
const { SentTextMemory } = await importSource("jobs/sent_texts.ts");
const { PersonData } = await importSource("session/person_data.ts");

const NOT_ENDED = new AbortController().signal;
const openShelf = (project = "docs", person = data) => new DraftShelf(person, project, NOT_ENDED);
const textsOf = (shelf) => shelf.shown.value.map((draft) => draft.text.value);
const lose = () =>
  Promise.reject(Object.assign(new Error("lost"), { name: "OutcomeUnknownError", status: 504 }));
let data;
let shelf;
let templates;
let sent;
beforeEach(() => {
  stored.clear();
  data = new PersonData("zoë");
  shelf = openShelf();
  templates = open();
  sent = openSent();
});

test("writing a prompt keeps the draft that was open", () => {
  shelf.current.value.edit("Half a thought");
  assert.equal(shelf.write("Run me again"), true);
  assert.equal(shelf.current.value.text.value, "Run me again");
  assert.deepEqual(textsOf(shelf), ["Half a thought", "Run me again"]);
  assert.deepEqual(textsOf(openShelf()).sort(), ["Half a thought", "Run me again"]);
});

test("writing a prompt reuses an empty draft and never adds a duplicate", () => {
  shelf.write("Once");
  shelf.startEmpty();
  shelf.write("Once");
  assert.equal(shelf.current.value.text.value, "Once");
  assert.deepEqual(textsOf(shelf), ["Once"]);
});

test("a full shelf rejects another draft and keeps all others", () => {
  for (let n = 1; n <= MAX_DRAFTS; n++) assert.equal(shelf.write(`Number ${n}`), true);
  assert.equal(shelf.write("One too many"), false);
  assert.equal(shelf.current.value.text.value, `Number ${MAX_DRAFTS}`);
  assert.equal(shelf.shown.value.length, MAX_DRAFTS);
});

test("undoing a discard restores the draft and its doubt", async () => {
  const draft = shelf.current.value;
  draft.edit("In doubt");
  await shelf.send(draft, lose);
  const undo = shelf.discard(draft);
  assert.deepEqual(textsOf(shelf), [""]);
  assert.equal(stored.size, 0);
  undo();
  assert.equal(shelf.current.value.text.value, "In doubt");
  assert.equal(shelf.current.value.problem.value.remedy, "look first");
});

test("drafts with the same prompt share an idempotency key", async () => {
  const [first, keys] = [shelf.current.value, []];
  first.edit("Fix the typos");
  await shelf.send(first, (_, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return Promise.reject(new Error("the connection broke"));
  });
  first.edit("Fix the typos, and more");
  shelf.write("Fix the typos");
  assert.notEqual(shelf.current.value, first);
  await shelf.send(shelf.current.value, async (_, how) => keys.push(how.idempotencyKey));
  assert.equal(keys[0], keys[1]);
  assert.equal(first.text.value, "Fix the typos, and more");
});

test("a draft with the prompt of one in doubt is in doubt too", async () => {
  const first = shelf.current.value;
  first.edit("Fix the typos");
  await shelf.send(first, lose);
  first.edit("Something else");
  shelf.write("Fix the typos");
  assert.equal(await shelf.send(shelf.current.value, () => assert.fail("sent")), false);
  assert.equal(shelf.current.value.problem.value.remedy, "look first");
});

test("another draft replaces a sent one in the editor", async () => {
  shelf.current.value.edit("Half a thought");
  shelf.write("Ready");
  const draft = shelf.current.value;
  assert.equal(await shelf.send(draft, async () => {}), true);
  shelf.leaveSent(draft);
  assert.deepEqual(textsOf(shelf), ["Half a thought"]);
});

test("drafts follow changes in another tab", () => {
  shelf.current.value.edit("Half a thought");
  const [name] = stored.keys();
  const change = (value) => page.changeElsewhere(stored, name, value);
  change({ text: "A whole thought", attempt: null, changedAt: 1 });
  assert.equal(shelf.current.value.text.value, "A whole thought");
  change(null);
  assert.equal(shelf.current.value.text.value, "");
  const other = `${name.slice(0, name.lastIndexOf(".") + 1)}other`;
  page.changeElsewhere(stored, other, { text: "From elsewhere", attempt: null, changedAt: 2 });
  assert.ok(textsOf(shelf).includes("From elsewhere"));
});

test("drafts belong to one person and project, and end with the session", () => {
  openShelf().current.value.edit("Half a thought");
  assert.deepEqual(textsOf(openShelf("other-docs")), [""]);
  data.forget();
  assert.deepEqual(textsOf(openShelf("docs", new PersonData("zoë"))), [""]);
  openShelf("docs", new PersonData("zoë")).current.value.edit("Half a thought");
  assert.deepEqual(textsOf(openShelf("docs", new PersonData("ada"))), [""]);
  assert.equal(stored.size, 0);
});

test("a project sees no draft of a project whose name begins like its own", () => {
  for (const project of ["acme.docs", "acme/docs", "acme%2Edocs", "acme."]) {
    openShelf(project).current.value.edit(`About ${project}`);
  }
  assert.deepEqual(textsOf(openShelf("acme")), [""]);
  assert.deepEqual(textsOf(openShelf("acme.docs")), ["About acme.docs"]);
});

const open = (person = data) => new TemplateShelf(person, NOT_ENDED);

test("a saved template takes its first line as its name", () => {
  assert.equal(templates.save("Add a page about [feature].\nKeep it short."), "stored");
  assert.equal(templates.save("Add a page about [feature].\nMake it long."), "stored");
  assert.deepEqual(templates.own.value, [
    { name: "Add a page about [feature].", text: "Add a page about [feature].\nMake it long." },
  ]);
  assert.equal(open().own.value.length, 1);
});

test("templates belong to one person and end with the session", () => {
  open().save("One");
  assert.equal(open(new PersonData("zoë")).own.value.length, 1);
  assert.deepEqual(open(new PersonData("ada")).own.value, []);
  assert.deepEqual(open(new PersonData("zoë")).own.value, []);
});

test("undoing a deletion restores one template in its place and keeps newer ones", () => {
  for (const text of ["Alpha", "Beta"]) templates.save(text);
  const undo = templates.remove(templates.own.value[0]);
  templates.save("Gamma");
  assert.equal(undo(), "stored");
  const names = ({ own }) => own.value.map(({ name }) => name);
  assert.deepEqual(names(templates), ["Alpha", "Beta", "Gamma"]);
  assert.deepEqual(names(open()), ["Alpha", "Beta", "Gamma"]);
});

test("undoing a deletion does not replace a newer template with the same name", () => {
  templates.save("Alpha\nOld text");
  const undo = templates.remove(templates.own.value[0]);
  templates.save("Alpha\nNew text");
  assert.equal(undo(), "exists");
  assert.deepEqual(templates.own.value, [{ name: "Alpha", text: "Alpha\nNew text" }]);
});

test("a template that storage refuses is not reported as stored", () => {
  const makeRoom = fillStorage();
  assert.equal(open().save("One"), "until reload");
  makeRoom();
  assert.equal(open().own.value.length, 1);
  assert.deepEqual(open(new PersonData("zoë")).own.value, []);
});

test("a full shelf rejects another template, and a long one", () => {
  for (let n = 1; n <= MAX_TEMPLATES; n++) assert.equal(templates.save(`Number ${n}`), "stored");
  assert.equal(templates.save("One too many"), "too many");
  assert.equal(templates.save("Number 1"), "stored");
  assert.equal(templates.save("x".repeat(10_001)), "too long");
});

const openSent = () => new SentTextMemory(data, "docs", NOT_ENDED);

test("sent prompts and follow-ups are known in another tab and after a reload", () => {
  sent.notePrompt("a", "Fix\nall of it");
  const other = openSent();
  assert.equal(other.of("a").prompt, "Fix\nall of it");
  other.noteMessage("a", "Also the images", 5);
  const [name] = stored.keys();
  page.changeElsewhere(stored, name, JSON.parse(stored.get(name)));
  assert.deepEqual(sent.of("a").messages, [{ text: "Also the images", sentAt: 5 }]);
  assert.deepEqual(sent.of("b"), { prompt: null, messages: [] });
});

test("two tabs do not overwrite each other's sent prompts", () => {
  const [one, other] = [1, 2].map(() => openSent());
  one.notePrompt("a", "First");
  other.notePrompt("b", "Second");
  const later = openSent();
  assert.deepEqual([later.of("a").prompt, later.of("b").prompt], ["First", "Second"]);
});

test("long sent prompts leave storage for drafts", () => {
  for (const id of ["a", "b", "c"]) sent.notePrompt(id, id.repeat(400_000));
  assert.equal(sent.of("a").prompt, null);
  assert.equal(sent.of("b").prompt.length, 400_000);
  assert.equal(sent.of("c").prompt.length, 400_000);
});

test("only the last 50 sent prompts are stored, and each can be forgotten", () => {
  for (let n = 0; n <= 50; n++) sent.notePrompt(`job-${n}`, `Number ${n}`);
  assert.equal(sent.of("job-0").prompt, null);
  assert.equal(sent.of("job-50").prompt, "Number 50");
  sent.forget("job-50");
  assert.equal(sent.of("job-50").prompt, null);
});

test("forgetting one prompt in full storage keeps all others", () => {
  for (const id of ["a", "b"]) sent.notePrompt(id, `Prompt ${id}`);
  const makeRoom = fillStorage();
  sent.forget("a");
  makeRoom();
  assert.equal(openSent().of("a").prompt, null);
  assert.equal(openSent().of("b").prompt, "Prompt b");
});

test("malformed entries in storage are ignored", () => {
  for (const text of ["{", "null", "7", "[]", '{"at":1}', '{"at":1,"item":{"prompt":"x"}}']) {
    stored.set(data.entry("sent", "docs", "1").key, text);
    assert.equal(openSent().of("1").prompt, null, text);
  }
});
