/** Checks the links of the documentation and its indexes. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { SECTIONS } from "../../docs/.vitepress/sections.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { findAnchors, findLinks, listMarkdown, withoutCode } from "./markdown.mjs";

/** Files that the build copies into a package, and their sources. It copies pages of `docs/`, too. */
const BUILT = new Map([
  ["gateway/CHANGELOG.md", "CHANGELOG.md"],
  ["gateway/LICENSE", "LICENSE"],
  ["gateway/THIRD_PARTY.md", "scripts/licences.mjs"],
]);

for (const name of listMarkdown()) {
  const file = join(ROOT, name);
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

test("the site's sidebar has every page of the documentation once", () => {
  const listed = SECTIONS.flatMap(({ pages }) => pages);
  const isListed = (page) => listed.includes(page) || listed.includes(dirname(page));
  const pages = listMarkdown().filter((name) => name.startsWith("docs/"));
  const unlisted = pages
    .map((name) => name.slice("docs/".length))
    .filter((page) => !isListed(page));
  assert.deepEqual(unlisted, ["README.md"]);
  for (const page of listed) assert.ok(existsSync(join(ROOT, "docs", page)), page);
  assert.equal(new Set(listed).size, listed.length);
});

test("no page has HTML outside of code", () => {
  for (const name of listMarkdown().filter((file) => file.startsWith("docs/"))) {
    const prose = withoutCode(readFileSync(join(ROOT, name), "utf8")).replace(/<!--.*?-->/gs, "");
    assert.doesNotMatch(prose, /<(?!https?:)[a-z/]/i, name);
  }
});

test("examples/README.md links to every example", () => {
  const index = readFileSync(join(ROOT, "examples", "README.md"), "utf8");
  const entries = readdirSync(join(ROOT, "examples"), { withFileTypes: true });
  const examples = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.ok(examples.length > 0);
  for (const name of examples) assert.ok(index.includes(`](${name}/`), name);
});
