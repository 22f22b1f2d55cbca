/**
 * Checks that the links in the documentation lead to existing files and headings, and that the
 * indexes link to every page and every example.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { findAnchors, findLinks } from "./markdown.mjs";

/** Files that the build copies into a package, and their sources. It copies pages of `docs/`, too. */
const BUILT = new Map([
  ["gateway/CHANGELOG.md", "CHANGELOG.md"],
  ["gateway/LICENSE", "LICENSE"],
  ["gateway/THIRD_PARTY.md", "scripts/licences.mjs"],
]);

/** Finds the tracked Markdown files, and the untracked ones that Git does not ignore. */
function findMarkdown() {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  const listed = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  const files = listed.trim().split("\n");
  return files.map((file) => join(ROOT, file)).filter((file) => existsSync(file));
}

for (const file of findMarkdown()) {
  const name = relative(ROOT, file);
  const links = findLinks(readFileSync(file, "utf8"));
  if (links.length === 0) continue;
  test(`every link of ${name} has an existing target`, () => {
    for (const link of links) {
      const [address, anchor] = link.split("#");
      const target = address === "" ? file : resolve(dirname(file), decodeURI(address));
      const path = relative(ROOT, target);
      const source = join(ROOT, BUILT.get(path) ?? path.replace(/^gateway\/docs\//, "docs/"));
      assert.ok(existsSync(source), link);
      if (anchor === undefined || !statSync(source).isFile()) continue;
      assert.ok(findAnchors(readFileSync(source, "utf8")).has(anchor), link);
    }
  });
}

test("docs/README.md links to every page of the documentation", () => {
  const index = readFileSync(join(ROOT, "docs", "README.md"), "utf8");
  const named = findLinks(index).map((link) => link.split("#")[0]);
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true }).filter(
    (page) => page.endsWith(".md") && page !== "README.md",
  );
  for (const page of pages) assert.ok(named.includes(page), page);
});

test("examples/README.md links to every example", () => {
  const index = readFileSync(join(ROOT, "examples", "README.md"), "utf8");
  const entries = readdirSync(join(ROOT, "examples"), { withFileTypes: true });
  const examples = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.ok(examples.length > 0);
  for (const name of examples) assert.ok(index.includes(`](${name}/`), name);
});
