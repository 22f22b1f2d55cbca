/** Finds the links and the anchors in a Markdown file. */

/** Returns the relative links outside of code. */
export function findLinks(text) {
  const prose = text.replace(/^ *```.*?^ *```/gms, "").replace(/`[^`\n]*`(?!\])/g, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
  return links.filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the anchors that GitHub creates for headings. */
export function findAnchors(text) {
  const headings = text.replace(/^ *```.*?^ *```/gms, "").matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading]) => {
      const letters = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "");
      return letters.trim().replaceAll(" ", "-");
    }),
  );
}
