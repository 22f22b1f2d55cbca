/** Finds Markdown files, and the links, anchors and code in them. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { slugify } from "../../docs/.vitepress/slugify.mjs";
import { ROOT } from "../../scripts/versions.mjs";

export function listMarkdown() {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  const listed = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return listed.split("\n").filter((file) => file !== "" && existsSync(join(ROOT, file)));
}

export function withoutCode(text) {
  return text.replace(/^ *```.*?^ *```/gms, "").replace(/`[^`\n]*`(?!\])/g, "");
}

export function findLinks(text) {
  const prose = withoutCode(text);
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
  return links.filter((target) => !/^[a-z]+:/.test(target));
}

export function findAnchors(text) {
  const headings = text.replace(/^ *```.*?^ *```/gms, "").matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading]) => slugify(heading)));
}

export function findCode(text) {
  const lineAt = (index) => text.slice(0, index).split("\n").length;
  const blocks = [...text.matchAll(/^( *)```(\w*)[^\n]*\n(.*?)^ *```$/gms)].map((match) => ({
    language: match[2],
    code: match[3].replaceAll(new RegExp(`^${match[1]}`, "gm"), ""),
    line: lineAt(match.index) + 1,
  }));
  const prose = text.replace(/^ *```.*?^ *```/gms, (block) => block.replace(/[^\n]/g, ""));
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(({ 1: code, index }) => ({
    language: "inline",
    code,
    line: prose.slice(0, index).split("\n").length,
  }));
  return [...blocks, ...spans];
}
