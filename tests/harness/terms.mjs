/** Finds retired words in the prose of Markdown files. */

/** Retired words, and the word to use. */
const RETIRED = [
  [/\bthe (?:real |live |simulated )?platform\b(?! services)/i, "Mintlify"],
  [/(?<![\w/.-])upstreams?(?![\w/-]|\.\w)/i, "Mintlify"],
  [/\b(?:goes|go|going) on by\b/i, "continues, resumes"],
  [/\bcomes? to (?:its|an|the) end\b/i, "finishes, ends"],
  [/\b(?:is|are) told of\b|\bhears? of\b/i, "is notified, receives"],
  [/\banew\b/i, "again, from scratch"],
  [/\b(?:by itself|of its own accord)\b/i, "automatically, separate"],
  [/\bwhoever\b/i, "callers, a caller"],
  [/\b(?:somebody|nobody|anybody)\b/i, "someone, no one, no caller"],
  [/\bwrit(?:e|es|ten|ing) down\b/i, "record, store"],
  [/\bsee(?:s|n)? to\b/i, "handle"],
  [/\b(?:has|have|had) to\b/i, "must"],
  [/\ballows? to\b/i, "allows doing, lets someone do"],
  [/\b(?:of late|henceforth|for good)\b/i, "recently, from now on, permanently"],
];

function readProse(text) {
  const blank = (part) => part.replace(/[^\n]/g, "`");
  return text
    .replace(/^ *(```|~~~).*?^ *\1/gms, blank)
    .replace(/<!--.*?-->/gs, blank)
    .replace(/(`+)[^`].*?\1/g, blank)
    .replace(/\]\([^)\s]*\)/g, blank)
    .replace(/<[^>\n]*>/g, blank)
    .replace(/https?:\/\/\S+/g, blank);
}

/** Returns a line for each retired word, also for one that continues on the next line. */
export function findRetired(file, text) {
  const prose = readProse(text);
  return RETIRED.flatMap(([pattern, use]) => {
    const spaced = new RegExp(pattern.source.replaceAll(" ", "\\s+"), `${pattern.flags}g`);
    return [...prose.matchAll(spaced)].map((match) => {
      const line = prose.slice(0, match.index).split("\n").length;
      const word = match[0].replace(/\s+/g, " ");
      return `${file}:${line}: "${word}" is retired; write: ${use}`;
    });
  });
}
