/** What a Markdown text points at, and what can be pointed at in it. */

/** The relative links of a text, outside of its code. */
export function findLinks(text) {
  const prose = text.replace(/^ *```.*?^ *```/gms, "").replace(/`[^`\n]*`(?!\])/g, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
  return links.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that GitHub gives to headings. */
export function findAnchors(text) {
  const headings = text.replace(/^ *```.*?^ *```/gms, "").matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading]) => {
      const letters = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "");
      return letters.trim().replaceAll(" ", "-");
    }),
  );
}
