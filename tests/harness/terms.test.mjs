/** The words of the documentation: no retired words, and a glossary that names real constants. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { listMarkdown } from "./markdown.mjs";

/** Retired words, and the word to use. */
const RETIRED = [
  [/\bthe (?:real |live |simulated )?platform\b(?! services)/i, "Mintlify"],
  [/(?<![\w/.-])upstreams?(?![\w/-]|\.\w)/i, "Mintlify"],
  [/\b(?:goes|go|going) on by\b/i, "continues, resumes"],
  [/\bcomes? to (?:its|an|the) end\b/i, "finishes, ends"],
  [/\b(?:is|are) told of\b|\bhears? of\b/i, "is notified, receives"],
  [/\banew\b/i, "again, from scratch"],
  [/\b(?:by itself|of its own accord)\b/i, "automatically, separate"],
  [/\bwhoever\b/i, "callers, a caller"],
  [/\b(?:somebody|nobody|anybody)\b/i, "someone, no one, no caller"],
  [/\bwrit(?:e|es|ten|ing) down\b/i, "record, store"],
  [/\bsee(?:s|n)? to\b/i, "handle"],
  [/\b(?:has|have|had) to\b/i, "must"],
  [/\ballows? to\b/i, "allows doing, lets someone do"],
  [/\b(?:of late|henceforth|for good)\b/i, "recently, from now on, permanently"],
];

function readProse(text) {
  const blank = (part) => part.replace(/[^\n]/g, "`");
  return text
    .replace(/^ *(```|~~~).*?^ *\1/gms, blank)
    .replace(/<!--.*?-->/gs, blank)
    .replace(/(`+)[^`].*?\1/g, blank)
    .replace(/\]\([^)\s]*\)/g, blank)
    .replace(/<[^>\n]*>/g, blank)
    .replace(/https?:\/\/\S+/g, blank);
}

/** Returns a line for each retired word, also for one that continues on the next line. */
function findRetired(file, text) {
  const prose = readProse(text);
  return RETIRED.flatMap(([pattern, use]) => {
    const spaced = new RegExp(pattern.source.replaceAll(" ", "\\s+"), `${pattern.flags}g`);
    return [...prose.matchAll(spaced)].map((match) => {
      const line = prose.slice(0, match.index).split("\n").length;
      const word = match[0].replace(/\s+/g, " ");
      return `${file}:${line}: "${word}" is retired; write: ${use}`;
    });
  });
}

const read = (file) => readFileSync(join(ROOT, file), "utf8");

test("no Markdown file has a retired word outside of code", () => {
  const found = listMarkdown().flatMap((file) => findRetired(file, read(file)));
  assert.deepEqual(found, []);
});

test("the glossary's variables and constants exist in the named files", () => {
  const rows = read("docs/glossary.md").split("\n");
  const cells = rows.map((row) => /\| ([^|]*) \|$/.exec(row)?.[1] ?? "");
  const sources = cells.filter((cell) => cell.includes("`") && /^`[A-Z_]+`/.test(cell));
  assert.ok(sources.length > 50, `${sources.length} rows`);
  const settings = execFileSync(
    "git",
    ["grep", "--no-line-number", "-hoE", "[A-Z][A-Z0-9_]+", "--", "worker/src"],
    {
      cwd: ROOT,
      encoding: "utf8",
    },
  ).split("\n");
  for (const source of sources) {
    const [names, path] = source.split(/ in (?=`)/);
    const file = path?.replaceAll("`", "");
    for (const part of names.split("; ")) {
      const isSetting =
        file === undefined || (names.includes("; ") && part === names.split("; ")[0]);
      for (const [, name] of part.matchAll(/`([A-Z0-9_]+)`/g)) {
        if (isSetting) assert.ok(settings.includes(name), `no variable ${name}`);
        else assert.match(read(file), new RegExp(`const ${name}\\b`), `${name} in ${file}`);
      }
    }
  }
});
