/**
 * Attributes the package's bytes to files of its JavaScript and to groups of its wasm functions.
 */

import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { buildNamedCore } from "../../scripts/build.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { readSections } from "./wasm_sections.mjs";

/**
 * Returns the bytes of each file in a minified bundle.
 *
 * @returns {Promise<Record<string, number>>} by file, the largest first
 */
export async function attributeScript() {
  const { metafile } = await build({
    entryPoints: [join(ROOT, "pkg", "dist", "web.js")],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    outdir: ROOT,
    logLevel: "error",
  });
  const [output] = Object.values(metafile.outputs);
  const files = Object.entries(output.inputs).map(([path, { bytesInOutput }]) => [
    basename(path),
    bytesInOutput,
  ]);
  return largestFirst(files);
}

/** Groups by the start of a function's path. The first match counts. */
const GROUPS = {
  "futures and promises": /^(js_sys::futures|wasm_bindgen_futures|futures_)/,
  "wasm-bindgen, js-sys, web-sys, gloo": /^(wasm_bindgen|js_sys|web_sys|gloo_|__wb|__externref)/,
  allocator: /^(lol_alloc|spin|quillgate::alloc|__rust|__rdl|__rg)/,
  "alloc and core":
    /^(alloc|core|std|hashbrown|compiler_builtins|T as core|mem(cpy|set|move|cmp)$)/,
  "exports and bindings": /^(quillgate::wasm|\w+$|.* shim$)/,
  "calls and their parameters":
    /^quillgate::(call|task|options|parameters|endpoint|project|ulid|list)\b/,
  "operations and their types":
    /^quillgate::(operation|declaration|agent_job|job_list|analytics|schema|count)\b/,
  pages: /^quillgate::pages\b/,
  dates: /^quillgate::(date|millis|http_date)\b/,
  "values and text": /^quillgate::(value|text)\b/,
  encoding: /^quillgate::encode\b/,
  "retries and polls": /^quillgate::(retry|poll)\b/,
  "errors and responses": /^quillgate::(error|response)\b/,
  credentials: /^quillgate::credential\b/,
};

/**
 * Returns the bytes of each group of functions and of each other section.
 *
 * @param {import("../../scripts/build.mjs").Context} context
 * @returns {Promise<Record<string, number>>} by group, the largest first
 */
export async function attributeWasm(context) {
  const named = await buildNamedCore(context, join(ROOT, "target", "bench"));
  const [withNames, shipped] = await Promise.all(
    [named, join(ROOT, "pkg", "dist", "core_bg.wasm")].map(async (path) =>
      readSections(await readFile(path)),
    ),
  );
  const bytes = {};
  const add = (group, size) => {
    bytes[group] = (bytes[group] ?? 0) + size;
  };
  for (const { name, size } of withNames.functions) add(groupOf(name), size);
  for (const [section, size] of Object.entries(withNames.sections)) {
    if (!["code", "name"].includes(section)) add(OTHER_SECTIONS[section] ?? "other sections", size);
  }
  if (shipped.sections.code !== withNames.sections.code) {
    throw new Error("the code of the build with names differs from the shipped code");
  }
  return largestFirst(Object.entries(bytes));
}

const OTHER_SECTIONS = { data: "data: strings and tables", import: "imports", export: "exports" };

function groupOf(name) {
  // `<quillgate::date::Date as core::…>::from` belongs to dates.
  const path = name.replace(/^[<&*\s]+(mut )?/, "");
  const found = Object.entries(GROUPS).find(([, pattern]) => pattern.test(path));
  return found?.[0] ?? "other functions";
}

function largestFirst(entries) {
  return Object.fromEntries(entries.sort(([, a], [, b]) => b - a));
}
