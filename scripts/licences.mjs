/**
 * `npm run licences`: writes `THIRD_PARTY.md`, the licences of what is shipped in the Worker's wasm,
 * in the npm package's wasm and in the page. What only builds or tests is not in it.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE_CRATE } from "./build.mjs";
import { LOCKED } from "./cargo.mjs";
import { capture, runMain, StepError } from "./child.mjs";
import { ROOT } from "./versions.mjs";

/** The list, as it is committed. */
export const THIRD_PARTY = join(ROOT, "THIRD_PARTY.md");

/** What is shipped of Rust, by title: the crate as Cargo selects it. */
const WASM = {
  "The Worker": ["-p", "quillgate-worker"],
  "The npm package": PACKAGE_CRATE,
};
const TARGET = ["--target", "wasm32-unknown-unknown"];
/** What is compiled in: neither build scripts nor macros are. */
const COMPILED_IN = ["-e", "normal,no-proc-macro"];
const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense)([-_.].*)?$/i;

/**
 * @typedef {object} Part something that others wrote
 * @property {string} name
 * @property {string} version
 * @property {string} licence an SPDX expression
 * @property {string} [url]
 * @property {string} folder
 */

/**
 * Writes the list as a text, from Cargo.lock and package-lock.json.
 *
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function listLicences(env = process.env) {
  const folders = await foldersOfCrates(env);
  const sections = [];
  const parts = new Map();
  const add = (title, list) => {
    for (const part of list) parts.set(`${part.name} ${part.version}`, part);
    sections.push([`## ${title}`, table(list)].join("\n\n"));
  };
  for (const [title, crate] of Object.entries(WASM)) {
    add(title, await listCrates(crate, folders, env));
  }
  add("The page", await listPackages());
  const texts = await collectTexts([...parts.values()]);
  return `${[HEAD, ...sections, "## Texts", ...texts].join("\n\n")}\n`;
}

/** Before the names of what is published without a licence's text. */
const WITHOUT_TEXT = "Published without a text of its own, under the licence in the table:";

const HEAD = `# What others wrote

Written by \`npm run licences\`; \`npm test -- supply\` fails when it is out of date. Quillgate itself is under the
[MIT licence](LICENSE). All wasm modules also contain parts of Rust's standard library (MIT OR Apache-2.0,
[rust-lang/rust](https://github.com/rust-lang/rust)) and their JavaScript glue, which wasm-bindgen wrote. The page contains the
npm package. The npm package \`quillgate-gateway\` contains the Worker, the page, and some of the Worker's crates once more, which check
its variables.`;

function table(parts) {
  const rows = parts.map(({ name, version, licence, url }) => {
    const linked = url ? `[${name}](${url})` : name;
    return `| ${linked} | ${version} | ${licence} |`;
  });
  return ["| what | version | licence |", "| --- | --- | --- |", ...rows].join("\n");
}

// --- crates ----------------------------------------------------------------

/** The crates that a wasm module is compiled from, without the project's own. */
async function listCrates(crate, folders, env) {
  const format = ["--prefix", "none", "-f", "{p}\t{l}\t{r}"];
  const args = ["tree", LOCKED, ...crate, ...TARGET, ...COMPILED_IN, ...format];
  const lines = (await cargo(args, env)).split("\n").filter(Boolean);
  const parts = lines.map((line) => {
    const [crate, licence, url] = line.replace(/ \(\*\)$/, "").split("\t");
    const [, name, version] = /^(\S+) v(\S+)/.exec(crate);
    return { name, version, licence, url, folder: folders.get(`${name} ${version}`) };
  });
  return sorted(parts.filter(({ folder }) => folder !== undefined));
}

/** Where the sources of each crate are that is not the project's own. */
async function foldersOfCrates(env) {
  const text = await cargo(["metadata", LOCKED, "--format-version", "1"], env);
  const foreign = JSON.parse(text).packages.filter(({ source }) => source !== null);
  return new Map(
    foreign.map(({ name, version, manifest_path }) => [
      `${name} ${version}`,
      dirname(manifest_path),
    ]),
  );
}

async function cargo(args, env) {
  const { code, stdout, stderr } = await capture("cargo", args, { env });
  if (code !== 0) throw new StepError(`cargo ${args[0]} failed:\n${stderr}`);
  return stdout;
}

// --- npm -------------------------------------------------------------------

/** The npm packages that the page is bundled with, without the project's own. */
async function listPackages() {
  const { packages } = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const shipped = Object.entries(packages).filter(
    ([path, { dev, link, optional, peer }]) =>
      path.startsWith("node_modules/") && !dev && !link && !optional && !peer,
  );
  const parts = shipped.map(async ([path]) => {
    const folder = join(ROOT, path);
    const { name, version, license, repository } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    const url = (repository?.url ?? repository)?.replace(/^git\+/, "").replace(/\.git$/, "");
    return { name, version, licence: license, url: httpsOnly(url), folder };
  });
  return sorted(await Promise.all(parts));
}

function httpsOnly(url) {
  return url?.startsWith("https://") ? url : undefined;
}

// --- texts -----------------------------------------------------------------

/** Each licence text once, with the parts that it is of. */
async function collectTexts(parts) {
  const byHash = new Map();
  const withText = new Set();
  for (const { name, version, licence, folder } of sorted(parts)) {
    for (const file of chooseFiles(await readdir(folder), licence)) {
      const text = await readFile(join(folder, file), "utf8").catch(() => "");
      const content = text
        .replaceAll("\r\n", "\n")
        .replace(/[ \t]+$/gm, "")
        .trim();
      if (content === "") continue;
      // Copies that differ only in how their lines are broken are one text.
      const hash = createHash("sha256").update(content.replace(/\s+/g, " ")).digest("hex");
      const entry = byHash.get(hash) ?? { content, owners: new Set() };
      entry.owners.add(`${name} ${version}`);
      withText.add(`${name} ${version}`);
      byHash.set(hash, entry);
    }
  }
  const texts = [...byHash.values()].map(
    ({ content, owners }) => `${[...owners].join(", ")}:\n\n${fence(content)}`,
  );
  const names = sorted(parts).map(({ name, version }) => `${name} ${version}`);
  const without = names.filter((name) => !withText.has(name));
  return without.length === 0 ? texts : [`${WITHOUT_TEXT} ${without.join(", ")}.`, ...texts];
}

/** The files that matter: where MIT is one of several to choose from, its text alone. */
function chooseFiles(names, licence) {
  const files = names.filter((name) => LICENCE_FILE.test(name)).sort();
  const hasChoice =
    /\bMIT\b/.test(licence) && / OR |\//.test(licence) && !licence.includes(" AND ");
  const chosen = files.filter((name) => /mit|notice/i.test(name));
  return hasChoice && chosen.length > 0 ? chosen : files;
}

/** A code block that no line of the text ends. */
function fence(text) {
  return `\`\`\`\`text\n${text}\n\`\`\`\``;
}

function sorted(parts) {
  const unique = new Map(parts.map((part) => [`${part.name} ${part.version}`, part]));
  return [...unique.values()].sort((a, b) =>
    a.name === b.name ? compare(a.version, b.version) : compare(a.name, b.name),
  );
}

/** By code unit, whatever the machine's language is. */
function compare(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runMain(async () => {
    await writeFile(THIRD_PARTY, await listLicences());
    console.log(`licences: wrote ${THIRD_PARTY}`);
  });
}
