import { posix } from "node:path";

/**
 * Documents of the npm package `quillgate-gateway`: paths in the repository, by path in the
 * package.
 */
export const GATEWAY_DOCS = Object.freeze({
  "CHANGELOG.md": "CHANGELOG.md",
  "dist/deploy.md": "docs/deploy.md",
  "dist/workflow-examples.md": "docs/guides/workflow-examples.md",
  "dist/workflows.md": "docs/guides/workflows.md",
});

/**
 * Adapts the relative links of a document to the package. Links to documents in the package lead to
 * their copies. Other links become plain text with the path in the repository.
 *
 * @param {string} text
 * @param {{ from: string, to: string }} paths of the document in the repository and in the package
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
