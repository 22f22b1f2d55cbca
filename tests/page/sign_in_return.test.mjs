import assert from "node:assert/strict";
import { test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForStorage();
standInForWindow();
const { noteSignInStart, restoreAddress } = await importSource("session/sign_in_return.ts");

test("the address of a failed sign-in keeps the state of its history entry", () => {
  const replaced = [];
  const state = { era: "of the first person" };
  globalThis.history = { state, replaceState: (...entry) => replaced.push(entry) };
  globalThis.location.search = "?route=views";
  noteSignInStart();
  globalThis.location.search = "?sign-in-failed=denied";
  restoreAddress();
  assert.deepEqual(replaced, [[state, "", "?route=views&sign-in-failed=denied"]]);
});
