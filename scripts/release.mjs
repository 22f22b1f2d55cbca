/**
 * `node scripts/release.mjs check <tag>`: checks that the manifests and the changelog match a tag.
 * Prints the outputs of the release workflow's step, as lines for `GITHUB_OUTPUT`.
 *
 * `node scripts/release.mjs notes <tag>`: prints the section of the changelog.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runMain, StepError } from "./child.mjs";
import { ROOT } from "./versions.mjs";

/** A semantic version after a `v`. */
const TAG = /^v(\d+\.\d+\.\d+(-[\da-z.-]+)?)$/;

/** Checks that every manifest has the tag's version, and that the changelog describes it. */
export function describeRelease(tag, { versions, changelog }) {
  const [, version, before] = TAG.exec(tag) ?? [];
  if (version === undefined) throw new StepError(`${tag} is not a tag such as v1.2.3`);
  const problems = Object.entries(versions)
    .filter(([, found]) => found !== version)
    .map(([file, found]) => `${file} says ${found}, not ${version}`);
  const notes = readSection(changelog, version);
  if (!notes) problems.push(`CHANGELOG.md has no section "## ${version} - <date>" with an entry`);
  if (before === undefined && readSection(changelog, "Unreleased")?.includes("\n- ")) {
    problems.push("CHANGELOG.md still has entries under Unreleased");
  }
  if (problems.length > 0) throw new StepError(problems.join("\n"));
  const channel = before === undefined ? "latest" : "next";
  return { version, line: lineOf(version), channel, notes };
}

/** Returns the tag that every stable release of a major version moves. */
export function lineOf(version) {
  return `v${version.split(".")[0]}`;
}

/** Returns a section of the changelog if it has an entry. */
function readSection(changelog, name) {
  const sections = changelog.split(/^## /m).slice(1);
  const heading = name === "Unreleased" ? /^Unreleased\n/ : matchHeading(name);
  const section = sections.find((text) => heading.test(text));
  const text = section?.slice(section.indexOf("\n") + 1).trim();
  return text && /^- /m.test(text) ? `\n${text}` : undefined;
}

function matchHeading(version) {
  return new RegExp(`^${version.replaceAll(".", "\\.")} - \\d{4}-\\d{2}-\\d{2}\\n`);
}

/** Returns the version in each file that has one. */
export function readVersions() {
  const read = (path) => readFileSync(join(ROOT, path), "utf8");
  const manifest = (path) => JSON.parse(read(path));
  return {
    "Cargo.toml": /^version = "(.*)"$/m.exec(read("Cargo.toml"))?.[1],
    "gateway/package.json": manifest("gateway/package.json").version,
    "pkg/package.json": manifest("pkg/package.json").version,
    "www/package.json": manifest("www/package.json").dependencies.quillgate,
  };
}

async function main([command, tag = ""]) {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const release = describeRelease(tag, { versions: readVersions(), changelog });
  if (command === "notes") console.log(release.notes.trim());
  else if (command === "check") {
    const { version, line, channel } = release;
    console.log(`version=${version}\nline=${line}\nchannel=${channel}`);
  } else throw new StepError("release takes check or notes, and a tag");
}

if (process.argv[1] === import.meta.filename) {
  await runMain(() => main(process.argv.slice(2)));
}
