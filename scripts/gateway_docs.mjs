import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "./versions.mjs";

/** The folders and pages of `docs/` that an operator needs without a network. */
const FOLDERS = ["guides", "operate", "problems"];
/** For developers of programs, who have the package `quillgate` or the crate. */
const LEFT_OUT = ["guides/rust.md", "guides/scripts.md", "guides/testing.md"];
const PAGES = ["reference/action.md", "reference/configuration.md", "start/cloudflare.md"];

/** Paths in the package and in the repository are equal, so that links work in both. */
export function listGatewayDocs() {
  const listed = FOLDERS.flatMap((folder) => {
    const files = readdirSync(join(ROOT, "docs", folder)).filter((name) => name.endsWith(".md"));
    return files.map((name) => `${folder}/${name}`).filter((page) => !LEFT_OUT.includes(page));
  });
  return ["CHANGELOG.md", ...[...listed, ...PAGES].sort().map((page) => `docs/${page}`)];
}

/** Links to documents of the package stay. Others, and images, become text with the path. */
export function adaptLinks(text, from, docs) {
  return text.replace(/!?\[((?:[^[\]`]|`[^`]*`)+)\]\(([^)\s]+)\)/g, (link, words, target) => {
    if (/^[a-z]+:|^#/.test(target)) return link;
    const file = posix.join(posix.dirname(from), target.split("#")[0]);
    if (docs.includes(file)) return link;
    return words === `\`${file}\`` ? words : `${words} (\`${file}\` of the repository)`;
  });
}
