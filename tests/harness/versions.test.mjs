import assert from "node:assert/strict";
import { test } from "node:test";
import { pinMismatch, VERSIONS } from "../../scripts/versions.mjs";

const PINNED = `[dependencies]\nwasm-bindgen = "=${VERSIONS.wasmBindgen}"\n`;

test("this repository's pins agree", () => {
  assert.equal(pinMismatch(), undefined);
});

test("a pin may be written as a table", () => {
  const table = PINNED.replace(/"(.*)"/, '{ version = "$1", features = ["x"] }');
  assert.equal(pinMismatch(table), undefined);
});

test("says when the crate is pinned to another version than its tool", () => {
  assert.match(pinMismatch(PINNED.replace("=0.", "=9.")), /pins wasm-bindgen =9\./);
});

test("says when the crate is not pinned exactly", () => {
  assert.match(pinMismatch('wasm-bindgen = "0.2"'), /no exact pin/);
});
