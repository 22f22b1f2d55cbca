/** The crates: what Cargo.lock names, where it comes from, and under which licences. */
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

test("Cargo.lock is what the manifests ask for", () =>
  runCargo("metadata", "--locked", "--format-version", "1"));

test("every crate is licensed, from crates.io, and there once", () =>
  runCargo("deny", "--locked", "--workspace", "check", "bans", "licenses", "sources"));

test("no crate has a known vulnerability, is unmaintained or yanked", async (context) =>
  judge(context, await auditCrates()));

test("Cargo.lock has the checksum of everything that is not ours", async () => {
  const text = await readFile(join(ROOT, "Cargo.lock"), "utf8");
  const crates = text.split("[[package]]").slice(1);
  const foreign = crates.filter((crate) => crate.includes("\nsource = "));
  assert.ok(foreign.length > 50, `${foreign.length} crates`);
  for (const crate of foreign) {
    assert.ok(crate.includes(`\nsource = "${REGISTRY}"\n`), crate);
    assert.match(crate, /\nchecksum = "[0-9a-f]{64}"\n/);
  }
});

test("the Rust toolchain is one exact version", async () => {
  const text = await readFile(join(ROOT, "rust-toolchain.toml"), "utf8");
  const [, channel] = /^channel = "(\d+\.\d+\.\d+)"$/m.exec(text) ?? [];
  assert.ok(channel, "rust-toolchain.toml names no exact version");
  const { stdout } = await capture("rustc", ["--version"]);
  assert.ok(stdout.startsWith(`rustc ${channel} `), stdout);
});
