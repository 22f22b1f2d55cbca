import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { adaptLinks, listGatewayDocs } from "../../scripts/gateway_docs.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { findAnchors, findLinks } from "../harness/markdown.mjs";

async function listPacked(folder) {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
  const { code, stdout, stderr } = await capture("npm", args, { cwd: join(ROOT, folder) });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout)[0].files.map(({ path }) => path);
}

for (const [folder, pages] of [
  ["gateway", ["README.md", ...listGatewayDocs()]],
  ["pkg", ["README.md"]],
]) {
  test(`every link in the documents of ${folder} leads to a file of its package`, async () => {
    const packed = await listPacked(folder);
    for (const page of pages) assert.ok(packed.includes(page), page);
    for (const page of packed.filter((path) => path.endsWith(".md"))) {
      const read = (path) => readFileSync(join(ROOT, folder, path), "utf8");
      for (const link of findLinks(read(page))) {
        const [path, anchor] = link.split("#");
        const target = path === "" ? page : posix.join(posix.dirname(page), path);
        assert.ok(packed.includes(target), `${page}: ${link}`);
        if (anchor === undefined) continue;
        assert.ok(findAnchors(read(target)).has(anchor), `${page}: ${link}`);
      }
    }
  });
}

test("keeps links to documents of the package, and makes the others text", () => {
  const docs = ["CHANGELOG.md", "docs/guides/webhooks.md", "docs/operate/keys.md"];
  for (const [text, expected] of [
    ["[how](docs/guides/webhooks.md#receive)", "[how](docs/guides/webhooks.md#receive)"],
    ["[`docs/page.md`](docs/page.md)", "`docs/page.md`"],
    ["[how](docs/page.md#output)", "how (`docs/page.md` of the repository)"],
    ["![a page](docs/images/page.png)", "a page (`docs/images/page.png` of the repository)"],
    ["[how](#added), [that](https://e.example/)", "[how](#added), [that](https://e.example/)"],
  ]) {
    assert.equal(adaptLinks(text, "CHANGELOG.md", docs), expected);
  }
  const from = "docs/operate/keys.md";
  const sibling = "[a](../guides/webhooks.md#b)";
  assert.equal(adaptLinks(sibling, from, docs), sibling);
  const root = adaptLinks("[a](../../README.md)", from, docs);
  assert.equal(root, "a (`README.md` of the repository)");
});
