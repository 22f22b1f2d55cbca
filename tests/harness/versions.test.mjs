import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isSupportedNode } from "../../scripts/setup.mjs";
import { ROOT } from "../../scripts/versions.mjs";

function pinsIn(manifest) {
  const text = readFileSync(join(ROOT, manifest), "utf8");
  const pins = text.matchAll(/^(wasm-bindgen(?:-cli|-cli-support)?) = .*"=([\d.]+)"/gm);
  return Object.fromEntries([...pins].map(([, crate, version]) => [crate, version]));
}

test("Cargo.lock and scripts/bindgen/Cargo.toml have the same version of wasm-bindgen", () => {
  const lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
  const version = /name = "wasm-bindgen"\nversion = "([\d.]+)"/.exec(lock)?.[1];
  assert.ok(version);
  assert.deepEqual(pinsIn("scripts/bindgen/Cargo.toml"), {
    "wasm-bindgen-cli": version,
    "wasm-bindgen-cli-support": version,
  });
});

test("npm start and npm test reject the versions of Node.js that Vite rejects", () => {
  const versions = ["20.18.9", "20.19.0", "21.5.0", "22.11.0", "22.12.0", "24.0.0"];
  assert.deepEqual(versions.filter(isSupportedNode), ["20.19.0", "22.12.0", "24.0.0"]);
});
