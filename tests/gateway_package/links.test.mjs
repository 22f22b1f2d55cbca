/** The links in the documents of both npm packages. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { adaptLinks } from "../../scripts/gateway_docs.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { findAnchors, findLinks } from "../harness/markdown.mjs";

/** Lists the paths in a package's tarball. */
async function listPacked(folder) {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
  const { code, stdout, stderr } = await capture("npm", args, { cwd: join(ROOT, folder) });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout)[0].files.map(({ path }) => path);
}

for (const [folder, pages] of [
  ["gateway", ["CHANGELOG.md", "README.md", "dist/deploy.md", "dist/workflows.md"]],
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

test("rewrites links to the package's copy of a document, or to a path in the repository", () => {
  const place = { from: "CHANGELOG.md", to: "CHANGELOG.md" };
  for (const [text, expected] of [
    ["[how](docs/deploy.md#webhooks)", "[how](dist/deploy.md#webhooks)"],
    ["[how](docs/guides/workflows.md)", "[how](dist/workflows.md)"],
    ["[`docs/cli.md`](docs/cli.md)", "`docs/cli.md`"],
    ["[how](docs/cli.md#output)", "how (`docs/cli.md` of the repository)"],
    ["[how](#added), [that](https://e.example/)", "[how](#added), [that](https://e.example/)"],
  ]) {
    assert.equal(adaptLinks(text, place), expected);
  }
  const page = { from: "docs/deploy.md", to: "dist/deploy.md" };
  assert.equal(adaptLinks("[a](guides/workflows.md#b)", page), "[a](workflows.md#b)");
  assert.equal(adaptLinks("[a](../README.md)", page), "a (`README.md` of the repository)");
});
