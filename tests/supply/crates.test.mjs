/** The crates in Cargo.lock: their sources, licences and advisories; and the pinned toolchain. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { auditCrates, judge } from "./audit.mjs";

const REGISTRY = "registry+https://github.com/rust-lang/crates.io-index";

async function runCargo(...args) {
  const { code, stderr } = await capture("cargo", args);
  assert.equal(code, 0, stderr);
}

test("Cargo.lock matches the manifests", () =>
  runCargo("metadata", "--locked", "--format-version", "1"));

test("every crate has an allowed licence, comes from crates.io and has a single version", () =>
  runCargo("deny", "--locked", "--workspace", "check", "bans", "licenses", "sources"));

test("no crate is vulnerable, unmaintained or yanked", async (context) =>
  judge(context, await auditCrates()));

test("Cargo.lock has a checksum for every external crate", async () => {
  const text = await readFile(join(ROOT, "Cargo.lock"), "utf8");
  const crates = text.split("[[package]]").slice(1);
  const external = crates.filter((crate) => crate.includes("\nsource = "));
  assert.ok(external.length > 50, `${external.length} crates`);
  for (const crate of external) {
    assert.ok(crate.includes(`\nsource = "${REGISTRY}"\n`), crate);
    assert.match(crate, /\nchecksum = "[0-9a-f]{64}"\n/);
  }
});

test("rust-toolchain.toml pins an exact version, which is in use", async () => {
  const text = await readFile(join(ROOT, "rust-toolchain.toml"), "utf8");
  const [, channel] = /^channel = "(\d+\.\d+\.\d+)"$/m.exec(text) ?? [];
  assert.ok(channel, "rust-toolchain.toml has no exact version");
  const { stdout } = await capture("rustc", ["--version"]);
  assert.ok(stdout.startsWith(`rustc ${channel} `), stdout);
});
