import assert from "node:assert/strict";
import { test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForWindow();
standInForStorage();
const { noteLayout, shortcutKey } = await importSource("shell/keys.ts");

for (const [name, event, wanted] of [
  ["a Latin letter counts as typed", { key: "g", code: "KeyG" }, "g"],
  ["Caps Lock changes nothing", { key: "G", code: "KeyG" }, "g"],
  ["a capital letter typed with Shift stays one", { key: "G", code: "KeyG", shiftKey: true }, "G"],
  ["a Cyrillic letter counts by its position", { key: "п", code: "KeyG" }, "g"],
  ["a Cyrillic capital counts by its position", { key: "П", code: "KeyG" }, "g"],
  ["a Greek letter counts by its position", { key: "ς", code: "KeyW" }, "w"],
  ["a Cyrillic letter on a bracket counts as the bracket", { key: "ъ", code: "BracketRight" }, "]"],
  ["Dvorak keeps its letters", { key: "k", code: "KeyV" }, "k"],
  ["Dvorak keeps its signs", { key: "'", code: "KeyQ" }, "'"],
  ["a German umlaut counts as typed", { key: "ü", code: "BracketLeft" }, "ü"],
  ["a sign typed with Shift counts as typed", { key: "?", code: "Slash", shiftKey: true }, "?"],
]) {
  test(name, () => assert.equal(shortcutKey({ shiftKey: false, ...event }), wanted));
}

test("the sign on the key Q is a letter only on a Greek keyboard", () => {
  const sign = { key: ";", code: "KeyQ", shiftKey: false };
  noteLayout({ key: "γ" });
  assert.equal(shortcutKey(sign), "q");
  noteLayout(sign);
  assert.equal(shortcutKey(sign), "q");
  // Programmer Dvorak
  noteLayout({ key: "a" });
  assert.equal(shortcutKey(sign), ";");
});
