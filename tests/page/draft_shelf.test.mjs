/** The shelf of drafts, saved templates, and the prompts that this browser sent. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

const stored = standInForStorage();
const page = standInForWindow();
const { DraftShelf, MAX_DRAFTS } = await importSource("jobs/draft_shelf.ts");
const { BUILT_IN, firstBlank, MAX_TEMPLATES, TemplateShelf } =
  await importSource("jobs/templates.ts");
const { SentTextMemory } = await importSource("jobs/sent_texts.ts");
const { forgetJobs } = await importSource("jobs/browser_storage.ts");

const NOT_ENDED = new AbortController().signal;
const openShelf = () => new DraftShelf("zoë.docs", NOT_ENDED);
const textsOf = (shelf) => shelf.shown.value.map((draft) => draft.text.value);
const lose = () =>
  Promise.reject(Object.assign(new Error("lost"), { name: "OutcomeUnknownError", status: 504 }));
beforeEach(() => stored.clear());

describe("drafts", () => {
  test("writing a prompt keeps the draft that was open", () => {
    const shelf = openShelf();
    shelf.current.value.edit("Half a thought");
    assert.equal(shelf.write("Run me again"), true);
    assert.equal(shelf.current.value.text.value, "Run me again");
    assert.deepEqual(textsOf(shelf), ["Half a thought", "Run me again"]);
    assert.deepEqual(textsOf(openShelf()).sort(), ["Half a thought", "Run me again"]);
  });

  test("writing a prompt reuses an empty draft and never adds a duplicate", () => {
    const shelf = openShelf();
    shelf.write("Once");
    shelf.startEmpty();
    shelf.write("Once");
    assert.equal(shelf.current.value.text.value, "Once");
    assert.deepEqual(textsOf(shelf), ["Once"]);
  });

  test("a full shelf rejects another draft and keeps all others", () => {
    const shelf = openShelf();
    for (let n = 1; n <= MAX_DRAFTS; n++) assert.equal(shelf.write(`Number ${n}`), true);
    assert.equal(shelf.write("One too many"), false);
    assert.equal(shelf.current.value.text.value, `Number ${MAX_DRAFTS}`);
    assert.equal(shelf.shown.value.length, MAX_DRAFTS);
  });

  test("undoing a discard restores the draft and its doubt", async () => {
    const shelf = openShelf();
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
    const shelf = openShelf();
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
    const shelf = openShelf();
    const first = shelf.current.value;
    first.edit("Fix the typos");
    await shelf.send(first, lose);
    first.edit("Something else");
    shelf.write("Fix the typos");
    assert.equal(await shelf.send(shelf.current.value, () => assert.fail("sent")), false);
    assert.equal(shelf.current.value.problem.value.remedy, "look first");
  });

  test("another draft replaces a sent one in the editor", async () => {
    const shelf = openShelf();
    shelf.current.value.edit("Half a thought");
    shelf.write("Ready");
    const draft = shelf.current.value;
    assert.equal(await shelf.send(draft, async () => {}), true);
    shelf.leaveSent(draft);
    assert.deepEqual(textsOf(shelf), ["Half a thought"]);
  });

  test("drafts follow changes in another tab", () => {
    const shelf = openShelf();
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
    assert.deepEqual(textsOf(new DraftShelf("ada.docs", NOT_ENDED)), [""]);
    assert.deepEqual(textsOf(new DraftShelf("zoë.other-docs", NOT_ENDED)), [""]);
    forgetJobs();
    assert.deepEqual(textsOf(openShelf()), [""]);
  });
});

describe("templates", () => {
  const PERSON = { issuer: "https://id.acme.test", subject: "zoë" };
  const open = (person = PERSON) => new TemplateShelf(person, NOT_ENDED);

  test("a saved template takes its first line as its name and survives signing out", () => {
    const shelf = open();
    assert.equal(shelf.save("Add a page about [feature].\nKeep it short."), "saved");
    assert.equal(shelf.save("Add a page about [feature].\nMake it long."), "saved");
    assert.deepEqual(shelf.own.value, [
      { name: "Add a page about [feature].", text: "Add a page about [feature].\nMake it long." },
    ]);
    forgetJobs();
    assert.equal(open().own.value.length, 1);
  });

  test("templates belong to one person, whose subject is unique only within an issuer", () => {
    open().save("One");
    assert.deepEqual(open({ ...PERSON, issuer: "https://id.other.test" }).own.value, []);
    assert.deepEqual(open({ ...PERSON, issuer: null }).own.value, []);
    assert.deepEqual(open({ ...PERSON, subject: "ada" }).own.value, []);
    assert.equal(open({ ...PERSON }).own.value.length, 1);
  });

  test("undoing a deletion restores the template", () => {
    const shelf = open();
    shelf.save("One");
    const undo = shelf.remove(shelf.own.value[0]);
    assert.deepEqual(open().own.value, []);
    undo();
    assert.equal(open().own.value.length, 1);
  });

  test("a full shelf rejects another template, and a long one", () => {
    const shelf = open();
    for (let n = 1; n <= MAX_TEMPLATES; n++) assert.equal(shelf.save(`Number ${n}`), "saved");
    assert.equal(shelf.save("One too many"), "too many");
    assert.equal(shelf.save("Number 1"), "saved");
    assert.equal(shelf.save("x".repeat(10_001)), "too long");
  });

  test("every built-in template has a blank to replace", () => {
    for (const { name, text } of BUILT_IN) {
      const blank = firstBlank(text);
      assert.equal(text[blank.start], "[", name);
      assert.equal(text[blank.end - 1], "]", name);
    }
    assert.equal(firstBlank("Fix the typos"), null);
  });
});

describe("sent prompts", () => {
  test("sent prompts and follow-ups are known in another tab and after a reload", () => {
    const sent = new SentTextMemory("zoë.docs", NOT_ENDED);
    sent.notePrompt("a", "Fix\nall of it");
    const other = new SentTextMemory("zoë.docs", NOT_ENDED);
    assert.equal(other.of("a").prompt, "Fix\nall of it");
    other.noteMessage("a", "Also the images", 5);
    const [name] = stored.keys();
    page.changeElsewhere(stored, name, JSON.parse(stored.get(name)));
    assert.deepEqual(sent.of("a").messages, [{ text: "Also the images", sentAt: 5 }]);
    assert.deepEqual(sent.of("b"), { prompt: null, messages: [] });
  });

  test("two tabs do not overwrite each other's sent prompts", () => {
    const [one, other] = [1, 2].map(() => new SentTextMemory("zoë.docs", NOT_ENDED));
    one.notePrompt("a", "First");
    other.notePrompt("b", "Second");
    const later = new SentTextMemory("zoë.docs", NOT_ENDED);
    assert.deepEqual([later.of("a").prompt, later.of("b").prompt], ["First", "Second"]);
  });

  test("long sent prompts leave storage for drafts", () => {
    const sent = new SentTextMemory("zoë.docs", NOT_ENDED);
    for (const id of ["a", "b", "c"]) sent.notePrompt(id, id.repeat(400_000));
    assert.equal(sent.of("a").prompt, null);
    assert.equal(sent.of("b").prompt.length, 400_000);
    assert.equal(sent.of("c").prompt.length, 400_000);
  });

  test("only the last 50 sent prompts are stored, and each can be forgotten", () => {
    const sent = new SentTextMemory("zoë.docs", NOT_ENDED);
    for (let n = 0; n <= 50; n++) sent.notePrompt(`job-${n}`, `Number ${n}`);
    assert.equal(sent.of("job-0").prompt, null);
    assert.equal(sent.of("job-50").prompt, "Number 50");
    sent.forget("job-50");
    assert.equal(sent.of("job-50").prompt, null);
  });

  test("malformed entries in storage are ignored", () => {
    stored.set("quillgate.jobs.sent.zoë.docs", JSON.stringify([null, 5, { id: 1 }]));
    assert.equal(new SentTextMemory("zoë.docs", NOT_ENDED).of("1").prompt, null);
  });
});
