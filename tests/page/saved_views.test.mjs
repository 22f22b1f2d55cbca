import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fillStorage, standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

const stored = standInForStorage();
const page = standInForWindow();
const { ViewShelf } = await importSource("saved_views/view_shelf.ts");
const { MAX_NAME, MAX_SEARCH, MAX_VIEWS } = await importSource("saved_views/saved_view.ts");
const { PersonData } = await importSource("session/person_data.ts");
const { VIEW_PROBLEMS } = await importSource("saved_views/words.ts");
const { SESSION_WORDS } = await importSource("session/words.ts");

const NOT_ENDED = new AbortController().signal;
const SEARCH = "?route=views&range=last-28-days&show=mostly-ai";
const OTHER = "?route=searches&range=last-7-days&path=token";
const openShelf = (project = "docs", person = data) => new ViewShelf(person, project, NOT_ENDED);
function saveTwo() {
  shelf.save("First", SEARCH);
  shelf.save("Second", OTHER);
}
const keyOf = (id, project = "docs") => data.entry("view", project, id).key;
const namesOf = (shelf) => shelf.views.value.map(({ name }) => name);
let data;
let shelf;

beforeEach(() => {
  stored.clear();
  data = new PersonData("zoë");
  shelf = openShelf();
});

test("a saved view survives a reload with its relative period", () => {
  assert.equal(openShelf().save("Read by AI", SEARCH), "stored");
  assert.deepEqual(openShelf().views.value, [{ name: "Read by AI", search: SEARCH }]);
});

test("a name loses surrounding and repeated spaces", () => {
  shelf.save("  Read   by\tAI ", SEARCH);
  assert.deepEqual(namesOf(shelf), ["Read by AI"]);
});

test("a name without a character is rejected", () => {
  assert.equal(shelf.save(" \t ", SEARCH), "no name");
  assert.deepEqual([shelf.views.value, stored.size], [[], 0]);
});

test(`a name has at most ${MAX_NAME} characters, and an emoji is one`, () => {
  assert.equal(shelf.save("📈".repeat(MAX_NAME), SEARCH), "stored");
  assert.equal(shelf.save("x".repeat(MAX_NAME + 1), SEARCH), "name too long");
});

test("an existing name needs a choice, in any case", () => {
  shelf.save("Read by AI", SEARCH);
  shelf.save("Terms", OTHER);
  assert.equal(shelf.save("read by ai", OTHER), "exists");
  assert.equal(shelf.views.value[0].search, SEARCH);
  assert.equal(shelf.replace("read by ai", OTHER), "stored");
  assert.deepEqual(openShelf().views.value, [
    { name: "read by ai", search: OTHER },
    { name: "Terms", search: OTHER },
  ]);
});

test(`a project has at most ${MAX_VIEWS} views, which can still be replaced`, () => {
  for (let n = 1; n <= MAX_VIEWS; n++) assert.equal(shelf.save(`View ${n}`, SEARCH), "stored");
  assert.equal(shelf.save("One too many", SEARCH), "too many");
  assert.equal(shelf.replace("View 1", OTHER), "stored");
  assert.equal(shelf.views.value.length, MAX_VIEWS);
});

test("an address with a very long filter is rejected", () => {
  const search = `${SEARCH}&path=${"x".repeat(MAX_SEARCH)}`;
  assert.equal(openShelf().save("Long", search), "too long");
});

test("a renamed view keeps its place and its report", () => {
  saveTwo();
  assert.equal(shelf.rename(shelf.views.value[0], " Weekly "), "stored");
  assert.deepEqual(openShelf().views.value[0], { name: "Weekly", search: SEARCH });
  assert.deepEqual(namesOf(openShelf()), ["Weekly", "Second"]);
});

test("a new name must be free, except for a change of case", () => {
  saveTwo();
  const [first] = shelf.views.value;
  assert.equal(shelf.rename(first, "second"), "exists");
  assert.equal(shelf.rename(first, ""), "no name");
  assert.equal(shelf.rename(first, "FIRST"), "stored");
  assert.deepEqual(namesOf(shelf), ["FIRST", "Second"]);
});

test("a deleted view is gone after a reload", () => {
  saveTwo();
  shelf.remove(shelf.views.value[0]);
  assert.deepEqual(namesOf(openShelf()), ["Second"]);
});

test("undoing a deletion restores one view in its place and keeps newer ones", () => {
  saveTwo();
  const undo = shelf.remove(shelf.views.value[0]);
  shelf.save("Third", OTHER);
  assert.equal(undo(), "stored");
  assert.deepEqual(namesOf(openShelf()), ["First", "Second", "Third"]);
});

test("undoing a deletion does not replace a newer view with the same name", () => {
  shelf.save("First", SEARCH);
  const undo = shelf.remove(shelf.views.value[0]);
  shelf.save("first", OTHER);
  assert.equal(undo(), "exists");
  assert.deepEqual(shelf.views.value, [{ name: "first", search: OTHER }]);
});

test("without storage, changes last until the page reloads and say so", () => {
  shelf.save("Stored", SEARCH);
  const makeRoom = fillStorage();
  assert.equal(shelf.save("Read by AI", SEARCH), "until reload");
  assert.equal(shelf.rename(shelf.views.value[1], "AI"), "until reload");
  assert.deepEqual(namesOf(openShelf()), ["Stored", "AI"]);
  makeRoom();
  assert.deepEqual(namesOf(openShelf("docs", new PersonData("zoë"))), ["Stored"]);
});

test("malformed values are skipped, and valid ones stay", () => {
  for (const text of ["{", "null", "7", '"text"', "{}", "[]"]) {
    stored.set(keyOf("1"), text);
    assert.deepEqual(openShelf().views.value, [], text);
  }
  const valid = { name: "Read by AI", search: SEARCH };
  const items = [
    null,
    "Read by AI",
    { name: "No address" },
    { name: 7, search: SEARCH },
    { name: "", search: SEARCH },
    { name: " padded", search: SEARCH },
    { name: "x".repeat(MAX_NAME + 1), search: SEARCH },
    { name: "Jobs", search: "?route=jobs" },
    { name: "Elsewhere", search: "https://elsewhere.example/" },
    { name: "Long", search: SEARCH.padEnd(MAX_SEARCH + 1, "x") },
    { ...valid, color: "red" },
    { name: "READ BY AI", search: OTHER },
  ];
  for (const [at, item] of items.entries()) {
    stored.set(keyOf(`${at}`), JSON.stringify({ at, item }));
  }
  assert.deepEqual(openShelf().views.value, [valid]);
  assert.equal(openShelf().save("Terms", OTHER), "stored");
  assert.deepEqual(namesOf(openShelf()), ["Read by AI", "Terms"]);
});

test("stored views beyond the maximum are not listed", () => {
  for (let at = 0; at < MAX_VIEWS + 5; at++) {
    const item = { name: `View ${at}`, search: SEARCH };
    stored.set(keyOf(`${at}`), JSON.stringify({ at, item }));
  }
  assert.equal(openShelf().views.value.length, MAX_VIEWS);
});

test("views follow changes in another tab", () => {
  const item = { name: "From elsewhere", search: OTHER };
  page.changeElsewhere(stored, keyOf("1"), { at: 1, item });
  assert.deepEqual(namesOf(shelf), ["From elsewhere"]);
  const other = { name: "Other project", search: OTHER };
  page.changeElsewhere(stored, keyOf("1", "docs.2"), { at: 1, item: other });
  assert.deepEqual(namesOf(shelf), ["From elsewhere"]);
});

test("views belong to one person and project", () => {
  openShelf().save("Read by AI", SEARCH);
  openShelf("api").save("Terms", OTHER);
  openShelf("docs.next").save("Terms", OTHER);
  assert.deepEqual(namesOf(openShelf()), ["Read by AI"]);
  assert.deepEqual(namesOf(openShelf("docs", new PersonData("ada"))), []);
});

test("every problem has a message", () => {
  assert.equal(VIEW_PROBLEMS.exists, "A view with this name exists.");
  assert.match(VIEW_PROBLEMS["name too long"], /at most 60 characters/);
  assert.match(VIEW_PROBLEMS["too many"], /30 saved views .* Delete one/);
  for (const words of Object.values(VIEW_PROBLEMS)) assert.match(words, /^[A-Z].*\.$/);
});

test("signing out names what it deletes", () => {
  const lossOf = (drafts, views, templates) => SESSION_WORDS.lossOf({ drafts, views, templates });
  assert.equal(lossOf(0, 0, 0), "");
  assert.equal(lossOf(1, 0, 0), "1 draft");
  assert.equal(lossOf(0, 2, 0), "2 saved views");
  assert.equal(lossOf(2, 1, 0), "2 drafts and 1 saved view");
  assert.equal(lossOf(2, 1, 3), "2 drafts, 1 saved view, and 3 templates");
});
