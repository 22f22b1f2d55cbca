/**
 * Lists the licences of all third-party code in the Worker's wasm, in the npm package's wasm and in
 * the page. Build and test dependencies are not included.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PACKAGE_CRATE } from "./build/package.mjs";
import { LOCKED } from "./cargo.mjs";
import { capture, StepError } from "./child.mjs";
import { ROOT } from "./versions.mjs";

/** Arguments that select the crate of each shipped wasm module, by the module's title. */
const WASM = {
  "The Worker": ["-p", "quillgate-worker"],
  "The npm package": PACKAGE_CRATE,
};
const TARGET = ["--target", "wasm32-unknown-unknown"];
/** Leaves out build scripts and procedural macros, which are not part of the wasm. */
const COMPILED_IN = ["-e", "normal,no-proc-macro"];
const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense)([-_.].*)?$/i;

/** Returns the content of `THIRD_PARTY.md`, from Cargo.lock and package-lock.json. */
export async function listLicences(env = process.env) {
  const folders = await findCrateFolders(env);
  const sections = [];
  const dependencies = [];
  const add = (title, list) => {
    dependencies.push(...list);
    sections.push([`## ${title}`, table(list)].join("\n\n"));
  };
  for (const [title, crate] of Object.entries(WASM)) {
    add(title, await listCrates(crate, folders, env));
  }
  add("The page", await listPackages());
  const texts = await collectTexts(dependencies);
  return `${[HEAD, ...sections, "## Licence texts", ...texts].join("\n\n")}\n`;
}

/** Introduces dependencies that contain no licence file. */
const WITHOUT_FILE = "Published without a licence file, under the licence in the table:";

const HEAD = `# Third-party software

The build generates this file. Quillgate itself has the
[MIT licence](LICENSE).

All wasm modules also contain parts of Rust's standard library (MIT OR Apache-2.0,
[rust-lang/rust](https://github.com/rust-lang/rust)), and their JavaScript glue comes from wasm-bindgen. The page contains the npm
package \`quillgate\`. The npm package \`quillgate-gateway\` contains the Worker and the page. It also contains some of the Worker's
crates a second time, in the wasm that checks variables.`;

function table(dependencies) {
  const rows = dependencies.map(({ name, version, licence, url }) => {
    const linked = url ? `[${name}](${url})` : name;
    return `| ${linked} | ${version} | ${licence} |`;
  });
  return ["| name | version | licence |", "| --- | --- | --- |", ...rows].join("\n");
}

// --- crates ----------------------------------------------------------------

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

/** Maps each third-party crate to the folder of its sources. */
async function findCrateFolders(env) {
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

// --- licence texts -----------------------------------------------------------------

async function collectTexts(dependencies) {
  const byHash = new Map();
  const withText = new Set();
  for (const { name, version, licence, folder } of sorted(dependencies)) {
    for (const file of chooseFiles(await readdir(folder), licence)) {
      const text = await readFile(join(folder, file), "utf8").catch(() => "");
      const content = text
        .replaceAll("\r\n", "\n")
        .replace(/[ \t]+$/gm, "")
        .trim();
      if (content === "") continue;
      // Copies that differ only in whitespace count as one.
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
  const names = sorted(dependencies).map(({ name, version }) => `${name} ${version}`);
  const without = names.filter((name) => !withText.has(name));
  return without.length === 0 ? texts : [`${WITHOUT_FILE} ${without.join(", ")}.`, ...texts];
}

/** Chooses the licence files. If MIT is one of several options, only its file and notices count. */
function chooseFiles(names, licence) {
  const files = names.filter((name) => LICENCE_FILE.test(name)).sort();
  const hasChoice =
    /\bMIT\b/.test(licence) && / OR |\//.test(licence) && !licence.includes(" AND ");
  const chosen = files.filter((name) => /mit|notice/i.test(name));
  return hasChoice && chosen.length > 0 ? chosen : files;
}

/** Returns a code block. Four backticks, because a licence may contain three. */
function fence(text) {
  return `\`\`\`\`text\n${text}\n\`\`\`\``;
}

/** Sorts dependencies by name and version, and removes duplicates. */
function sorted(dependencies) {
  const unique = new Map(dependencies.map((one) => [`${one.name} ${one.version}`, one]));
  return [...unique.values()].sort((a, b) =>
    a.name === b.name ? compare(a.version, b.version) : compare(a.name, b.name),
  );
}

/** Compares by code unit, independently of the machine's locale. */
function compare(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
