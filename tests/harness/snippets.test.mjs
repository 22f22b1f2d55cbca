/** Checks that code in the documentation parses, and that its commands and flags exist. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { parse as parseToml } from "smol-toml";
import { parseAllDocuments } from "yaml";
import { ROOT } from "../../scripts/versions.mjs";
import { findCode, listMarkdown } from "./markdown.mjs";

const load = (name) => import(join(ROOT, "pkg", "dist", "cli", `${name}.js`));
const { COMMANDS } = await load("commands");
const { COMMON_OPTIONS, CONNECTION_OPTIONS } = await load("shared_options");
/** The npm scripts of a folder that `quillgate init` creates. */
const GATEWAY_SCRIPTS = ["check", "deploy", "dev"];
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const { scripts: docsScripts } = JSON.parse(readFileSync(join(ROOT, "docs/package.json"), "utf8"));
const SCRIPTS = new Set([
  ...Object.keys({ ...scripts, ...docsScripts }),
  ...[...GATEWAY_SCRIPTS, "start", "test"],
]);

const PARSERS = {
  json: JSON.parse,
  toml: parseToml,
  yaml: (text) => parseAllDocuments(text, { uniqueKeys: true }).forEach(throwErrors),
  sh: (text) => execFileSync("bash", ["-n"], { input: text, stdio: ["pipe", "pipe", "pipe"] }),
};
PARSERS.yml = PARSERS.yaml;
PARSERS.bash = PARSERS.sh;
for (const loader of ["js", "ts", "tsx"]) {
  PARSERS[loader] = (text) => transformSync(text, { loader, format: "esm", logLevel: "silent" });
}

function throwErrors({ errors }) {
  if (errors.length > 0) throw errors[0];
}

function checkQuillgate(words) {
  const named = COMMANDS.filter(({ name }) => `${words.join(" ")} `.startsWith(`${name} `));
  const command = named.sort((a, b) => b.name.length - a.name.length)[0];
  if (command === undefined) {
    if (words.length === 0 || words[0].startsWith("-")) return undefined;
    return `quillgate has no command ${words.slice(0, 2).join(" ")}`;
  }
  const connection = command.connects ? CONNECTION_OPTIONS : {};
  const options = { ...command.options, ...COMMON_OPTIONS, ...connection };
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  for (const word of words.slice(0, end)) {
    const name = /^--([a-z][\w-]*)/.exec(word)?.[1];
    if (name !== undefined && !Object.hasOwn(options, name) && !isNegation(name, options)) {
      return `quillgate ${command.name} has no flag --${name}`;
    }
  }
  return undefined;
}

function isNegation(name, options) {
  return name.startsWith("no-") && options[name.slice(3)]?.type === "switch";
}

function checkLine(line) {
  const faults = [];
  const code = line.replace(/"(?:\\.|[^"\\])*"|'[^']*'/g, "STRING");
  // zsh passes a typed comment to the command before it.
  if (/\S\s+#/.test(code)) faults.push("a comment follows a command");
  const bare = code.replace(/(^|\s)#.*$/, "");
  for (const part of bare.split(/[|;&()`]+|\$\(/)) {
    const words = part
      .trim()
      .split(/\s+/)
      .filter((word) => word !== "");
    const at = words.indexOf("quillgate");
    const before = words.slice(0, Math.max(at, 0)).filter((word) => !/^\w+=/.test(word));
    if (at >= 0 && before.every((word) => ["npx", "exec", "$", "then", "do"].includes(word))) {
      faults.push(checkQuillgate(words.slice(at + 1)));
    }
    const script = /^(?:\w+=\S+ )*npm run (?:-\S+ )*([\w:-]+)/.exec(words.join(" "))?.[1];
    if (script !== undefined && !SCRIPTS.has(script)) faults.push(`no npm script ${script}`);
  }
  return faults.filter((fault) => fault !== undefined);
}

function checkCode(text) {
  const faults = [];
  for (const { language, code, line } of findCode(text)) {
    const parse = PARSERS[language];
    try {
      parse?.(code);
    } catch (error) {
      faults.push(`line ${line}: ${language}: ${String(error.stderr ?? error.message).trim()}`);
    }
    if (language !== "sh" && language !== "bash" && language !== "inline") continue;
    const joined = code.replace(/\\\n\s*/g, " ");
    for (const command of joined.split("\n")) {
      faults.push(...checkLine(command).map((fault) => `line ${line}: ${fault}`));
    }
  }
  return faults;
}

for (const name of listMarkdown()) {
  test(`the code in ${name} parses, and its commands exist`, () => {
    assert.deepEqual(checkCode(readFileSync(join(ROOT, name), "utf8")), []);
  });
}

test("finds commands, flags, scripts and syntax that do not exist", () => {
  for (const [text, fault] of [
    ["Run `quillgate jobs create`.", "line 1: quillgate has no command jobs create"],
    ["```sh\nnpx quillgate job list --wat\n```", "line 2: quillgate job list has no flag --wat"],
    ["```sh\nA=1 quillgate views \\\n  --wat\n```", "line 2: quillgate views has no flag --wat"],
    ["Run `npm run tset`.", "line 1: no npm script tset"],
    ["```sh\nnpm start # the page\n```", "line 2: a comment follows a command"],
    ['```json\n{"a":}\n```', /^line 2: json: /],
    ["```sh\nif true\n```", /^line 2: sh: /],
    ["```ts\nconst a: = 1;\n```", /^line 2: ts: /],
  ]) {
    const [found, ...others] = checkCode(text);
    if (typeof fault === "string") assert.equal(found, fault);
    else assert.match(found ?? "", fault);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(checkCode('```sh\nnpx quillgate job create --wait "a --wat"\n```'), []);
});
