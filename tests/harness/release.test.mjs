/** The checks before a release, and the release workflow. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { describeRelease, lineOf, readVersions } from "../../scripts/release.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const WORKFLOW = readFileSync(join(ROOT, ".github", "workflows", "release.yml"), "utf8");
const CHANGELOG = `# Changelog

## Unreleased

## 1.2.0 - 2026-11-01

### Added

- **A thing.**

## 1.1.0 - 2026-10-01

- An older thing.
`;

const ADDED = ["## Unreleased\n", "## Unreleased\n\n- Later.\n"];
const edited = (from, to) => ({ changelog: CHANGELOG.replace(from, to) });

function buildSources({ version = "1.2.0", changelog = CHANGELOG, ...others } = {}) {
  return { versions: { "Cargo.toml": version, "pkg/package.json": version, ...others }, changelog };
}

test("describes the release of a tag that fits the manifests and the changelog", () => {
  assert.deepEqual(describeRelease("v1.2.0", buildSources()), {
    version: "1.2.0",
    line: "v1",
    channel: "latest",
    notes: "\n### Added\n\n- **A thing.**",
  });
});

test("a prerelease uses the channel next and may leave entries under Unreleased", () => {
  const changelog = CHANGELOG.replace("## 1.2.0 -", "## 1.2.0-rc.1 -").replace(...ADDED);
  const sources = buildSources({ version: "1.2.0-rc.1", changelog });
  assert.equal(describeRelease("v1.2.0-rc.1", sources).channel, "next");
});

for (const [what, tag, changes, message] of [
  ["a malformed tag", "1.2.0", {}, /1\.2\.0 is not a tag/],
  [
    "a manifest with another version",
    "v1.2.0",
    { "gateway/package.json": "1.1.0" },
    /gateway\/package\.json says 1\.1\.0/,
  ],
  ["a version without a section", "v1.3.0", { version: "1.3.0" }, /no section "## 1\.3\.0/],
  ["a section of the version 1x2.0", "v1.2.0", edited("1.2.0", "1x2.0"), /no section/],
  ["a section without entries", "v1.2.0", edited("- **A thing.**", ""), /no section/],
  ["entries under Unreleased", "v1.2.0", edited(...ADDED), /entries under Unreleased/],
]) {
  test(`rejects ${what}`, () => {
    assert.throws(() => describeRelease(tag, buildSources(changes)), message);
  });
}

test("all manifests of this repository have the same version", () => {
  const versions = readVersions();
  assert.equal(new Set(Object.values(versions)).size, 1, JSON.stringify(versions));
  assert.match(Object.values(versions)[0], /^\d+\.\d+\.\d+/);
});

test("documentation and examples name the action by the tag that a release moves", () => {
  const action = "quillgate/quillgate/action@[A-Za-z0-9._-]+";
  const args = ["grep", "--no-line-number", "-hoE", action, "--", "*.md", "*.yml"];
  const named = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const line = lineOf(readVersions()["Cargo.toml"]);
  assert.deepEqual([...new Set(named)], [`quillgate/quillgate/action@${line}`]);
});

test("workflows and documentation pin every action of others to a commit", () => {
  const args = ["grep", "--no-line-number", "-hoE", "^ +(- )?uses: [^ ]+", "--", "*.md", "*.yml"];
  const lines = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const actions = lines.map((line) => line.split("uses: ")[1]);
  const others = actions.filter((action) => !/^(quillgate|\.)\//.test(action));
  assert.ok(others.length > 0);
  for (const action of others) assert.match(action, /^[\w/-]+@[0-9a-f]{40}$/);
});

test("only the publish jobs of the release workflow have an identity token, and they run no repository code", () => {
  const jobs = WORKFLOW.split(/^ {2}(?=[\w-]+:\n {4})/m).slice(1);
  const publishing = jobs.filter((job) => job.includes("id-token: write"));
  const names = publishing.map((job) => job.split(":")[0]);
  assert.deepEqual(names, ["publish", "publish-crate"]);
  const runsCode = /checkout|npm (ci|install|test|run)|cargo (build|install|test)|scripts\//;
  for (const job of publishing) assert.doesNotMatch(job, runsCode);
  assert.doesNotMatch(WORKFLOW, /secrets\./);
});

test("every script and command of the release workflow exists", () => {
  const scripts = [...WORKFLOW.matchAll(/node (scripts\/\S+)/g)].map(([, path]) => path);
  assert.ok(scripts.length > 0);
  for (const path of scripts) assert.ok(existsSync(join(ROOT, path)), path);
  const commands = [...WORKFLOW.matchAll(/npm (?:run (\S+)|(test)\b)/g)];
  const names = commands.map(([, script, test]) => script ?? test);
  const { scripts: known } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.ok(names.length > 0);
  for (const name of names) assert.ok(known[name], name);
});
