/** The glossary names real constants. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const read = (file) => readFileSync(join(ROOT, file), "utf8");

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
