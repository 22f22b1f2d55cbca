import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { run } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolder } from "../harness/folder.mjs";

/** Exports of the linker and of wasm-bindgen itself. */
const TOOLCHAIN =
  /^(memory|__data_end|__heap_base|__wbindgen_.*|__externref_.*|__wbg_jspi_task_poll|__abort_handler|__instance_terminated)$/;

const folder = makeFolder({ after }, "dependants");

/** Builds a new crate that depends on this one, and returns the folder of the output. */
async function build({ name, file, source, manifest = "", args = [] }) {
  const crate = join(folder, name);
  await mkdir(join(crate, "src"), { recursive: true });
  const dependency = `quillgate = { path = ${JSON.stringify(ROOT)} }`;
  const lines = [
    `[package]\nname = "${name}"\nedition = "2024"\npublish = false`,
    manifest,
    `[dependencies]\n${dependency}`,
    "[workspace]",
  ];
  await writeFile(join(crate, "Cargo.toml"), lines.join("\n\n"));
  await writeFile(join(crate, "src", file), source);
  // The same versions as here, whose sources are already downloaded.
  await writeFile(join(crate, "Cargo.lock"), await readFile(join(ROOT, "Cargo.lock")));
  const target = join(ROOT, "target", "dependants");
  const options = ["--manifest-path", join(crate, "Cargo.toml"), "--target-dir", target];
  await run(`building ${name}`, "cargo", ["build", "--offline", ...options, ...args]);
  return target;
}

test("an empty native program that depends on the crate builds and runs", async () => {
  const source = "use quillgate::client as _;\n\nfn main() {}\n";
  const target = await build({ name: "native-program", file: "main.rs", source });
  await run("running the program", join(target, "debug", "native-program"), []);
});

test("an empty WebAssembly program gets no exports and no allocator from the crate", async () => {
  // A second global allocator would be a compile error.
  const source = `use std::alloc::System;

use quillgate::client as _;

#[global_allocator]
static ALLOCATOR: System = System;

#[unsafe(no_mangle)]
pub extern "C" fn own() -> u32 {
    7
}
`;
  const target = await build({
    name: "wasm-program",
    file: "lib.rs",
    source,
    manifest: '[lib]\ncrate-type = ["cdylib"]',
    args: ["--target", "wasm32-unknown-unknown"],
  });
  const output = join(target, "wasm32-unknown-unknown", "debug", "wasm_program.wasm");
  const module = new WebAssembly.Module(await readFile(output));
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !TOOLCHAIN.test(name)),
    ["own"],
  );
});
