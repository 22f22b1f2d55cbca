import assert from "node:assert/strict";
import { test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForStorage();
standInForWindow();
const { findBlanks, focusFirstBlank, selectNextBlank } = await importSource("jobs/blanks.ts");
const { BUILT_IN } = await importSource("jobs/templates.ts");
const textsOf = (prompt) => findBlanks(prompt).map(({ text }) => text);

/** Stands in for a textarea with a caret at its end. */
function openBox(value) {
  const box = { value, selectionStart: value.length, selectionEnd: value.length };
  box.focus = () => {};
  box.setSelectionRange = (start, end) =>
    Object.assign(box, { selectionStart: start, selectionEnd: end });
  box.selected = () => value.slice(box.selectionStart, box.selectionEnd);
  return box;
}

test("every built-in template has blanks, and each one is complete", () => {
  for (const { name, text } of BUILT_IN) {
    assert.deepEqual(textsOf(text), text.match(/\[[^\]]+\]/g), name);
  }
});

test("blanks end at their brackets, on every line", () => {
  const prompt = "Update [page]: [what\nto show].\r\n\n[What should change, and why.]";
  assert.deepEqual(textsOf(prompt), ["[page]", "[What should change, and why.]"]);
  for (const { text, start, end } of findBlanks(prompt)) {
    assert.equal(prompt.slice(start, end), text);
  }
});

for (const prompt of [
  "Fix the link [here](/start) and ![the picture](a.png)",
  "Document items[index] and [items][index]",
  "Update the page /docs/[slug]/edit",
  "- [ ] first\n- [x] second",
  "See [1], [42] and [^1].",
  "> The reader wrote [your name] here",
  "Help readers who search for “the [tab] key”.",
  "Show `[feature]` in the example",
  "Add this:\n```toml\n[package]\n```\nand nothing else.",
  "Nothing to fill in",
  "[unclosed",
  "[]",
]) {
  test(`has no blank: ${JSON.stringify(prompt)}`, () => {
    assert.deepEqual(textsOf(prompt), []);
  });
}

test("text after a quotation or code can have a blank", () => {
  assert.deepEqual(textsOf("Improve “search” and `code` on [path]."), ["[path]"]);
  assert.deepEqual(textsOf("```\n[a table]\n```\nSee [the page]."), ["[the page]"]);
});

test("Tab selects each blank in turn, then leaves the box", () => {
  const box = openBox("Add [feature] to [section].\n[Why it matters.]");
  focusFirstBlank(box);
  assert.equal(box.selected(), "[feature]");
  assert.equal(selectNextBlank(box, "forward"), true);
  assert.equal(box.selected(), "[section]");
  assert.equal(selectNextBlank(box, "forward"), true);
  assert.equal(box.selected(), "[Why it matters.]");
  assert.equal(selectNextBlank(box, "forward"), false);
  assert.equal(selectNextBlank(box, "backward"), true);
  assert.equal(box.selected(), "[section]");
});

test("a box without blanks keeps its selection", () => {
  const box = openBox("Fix the typos");
  focusFirstBlank(box);
  assert.equal(box.selectionStart, 13);
  assert.equal(selectNextBlank(box, "forward"), false);
});
