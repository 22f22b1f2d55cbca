import { posix } from "node:path";

/** What the npm package `quillgate-gateway` has of the documentation, by the name that it has there. */
export const GATEWAY_DOCS = Object.freeze({
  "CHANGELOG.md": "CHANGELOG.md",
  "dist/deploy.md": "docs/deploy.md",
  "dist/github-actions.md": "docs/github-actions.md",
});

/**
 * Makes the links of a page lead somewhere in the package: to the copy of another page, or else
 * nowhere, with the file's place in the repository beside the words.
 *
 * @param {string} text
 * @param {{ from: string, to: string }} place of the page in the repository, and in the package
 * @returns {string}
 */
export function adaptLinks(text, { from, to }) {
  return text.replace(/\[((?:[^[\]`]|`[^`]*`)+)\]\(([^)\s]+)\)/g, (link, words, target) => {
    if (/^[a-z]+:|^#/.test(target)) return link;
    const [path, anchor] = target.split("#");
    const file = posix.join(posix.dirname(from), path);
    const copy = Object.keys(GATEWAY_DOCS).find((name) => GATEWAY_DOCS[name] === file);
    if (copy !== undefined) {
      const relative = posix.relative(posix.dirname(to), copy);
      return `[${words}](${relative}${anchor === undefined ? "" : `#${anchor}`})`;
    }
    return words === `\`${file}\`` ? words : `${words} (\`${file}\` of the repository)`;
  });
}
