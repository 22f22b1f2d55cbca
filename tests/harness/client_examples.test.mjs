/** Checks that the Rust client's documentation has all examples, and that tests run them. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const CLIENT = join(ROOT, "src", "client");
/** Folders of tests that run the examples in their subfolder `examples`. */
const TESTS = ["tests/client", "tests/client_web"];
/** The modules of `src/client/` with public items. */
const PUBLIC = [
  ...["agent_jobs", "analytics", "automations", "builder", "call", "deployments", "error"],
  ...["fetch_host", "host", "list", "previews"],
  ...["reqwest_host", "request", "response", "settings", "watch"],
];

const files = [`${CLIENT}.rs`, ...PUBLIC.map((name) => join(CLIENT, `${name}.rs`))];
const sources = files.map((file) => ({ file, text: readFileSync(file, "utf8") }));

/** Lists the public methods of a source file with their documentation and attributes. */
function listMethods({ file, text }) {
  const methods = [];
  let documentation = "";
  for (const line of text.split("\n").map((line) => line.trim())) {
    const name = /^pub (?:const |async )*fn (\w+)/.exec(line)?.[1];
    if (name) methods.push({ name, file: basename(file), documentation });
    if (/^(\/\/\/|#\[|\$\(#\[)/.test(line)) documentation += `${line}\n`;
    else documentation = "";
  }
  return methods;
}

test("each public method of the Rust client has an example", () => {
  const methods = sources.flatMap(listMethods).filter(({ name }) => name !== "check");
  assert.ok(methods.length > 35, `${methods.length} methods`);
  const without = methods.filter(({ documentation }) => !/include_str!|```/.test(documentation));
  const listed = without.map(({ file, name }) => `${file}: ${name}`);
  assert.deepEqual(listed, []);
});

test("each example of the Rust client is in its documentation and called by a test", () => {
  const shown = sources.map(({ text }) => text).join("\n");
  for (const folder of TESTS) {
    const programs = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".rs"));
    const text = programs.map((name) => readFileSync(join(ROOT, folder, name), "utf8")).join("\n");
    for (const file of readdirSync(join(ROOT, folder, "examples"))) {
      assert.ok(shown.includes(`${folder}/examples/${file}`), `${file} is in no documentation`);
      const call = new RegExp(`\\b${basename(file, ".rs")}::\\w+`);
      assert.match(text, call, `no test calls ${file}`);
    }
  }
});
