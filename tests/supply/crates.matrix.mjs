/** The crates in Cargo.lock: their sources, licences and advisories; and the pinned toolchain. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
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

test("the published manifest has no exact version, which would apply to dependants too", async () => {
  const text = await readFile(join(ROOT, "Cargo.toml"), "utf8");
  assert.deepEqual(text.match(/^.*"=\d.*$/gm) ?? [], []);
});

test("a native program can use another patch version of wasm-bindgen", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quillgate-resolve-"));
  try {
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src", "lib.rs"), "");
    const dependencies = `quillgate = { path = ${JSON.stringify(ROOT)} }\nwasm-bindgen = "=0.2.114"`;
    const manifest = `[package]\nname = "other"\nedition = "2024"\n[dependencies]\n${dependencies}\n[workspace]\n`;
    await writeFile(join(folder, "Cargo.toml"), manifest);
    await runCargo("generate-lockfile", "--manifest-path", join(folder, "Cargo.toml"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("rust-toolchain.toml pins an exact version, which is in use", async () => {
  const text = await readFile(join(ROOT, "rust-toolchain.toml"), "utf8");
  const [, channel] = /^channel = "(\d+\.\d+\.\d+)"$/m.exec(text) ?? [];
  assert.ok(channel, "rust-toolchain.toml has no exact version");
  const { stdout } = await capture("rustc", ["--version"]);
  assert.ok(stdout.startsWith(`rustc ${channel} `), stdout);
});
