/** Builds the font of the page: Geist, cut into slices so that a route loads few bytes. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { whenChanged } from "../freshness.mjs";
import { ROOT } from "../versions.mjs";

const FONT = join(ROOT, "www", "build", "font");
const STYLES = join(FONT, "font.css");
const GEIST = join(ROOT, "node_modules", "@fontsource-variable", "geist");

/** The weights that the page uses. */
const WEIGHT = { min: 400, max: 600 };
const OPTIONS = {
  targetFormat: "woff2",
  variationAxes: { wght: WEIGHT },
  keepFeatures: ["tnum"],
  noHinting: true,
  // Text without kerning needs none of them.
  dropTables: ["gasp", "GDEF", "GPOS", "MVAR", "STAT"],
};

/**
 * Slices of the font. A browser loads a slice when the page shows one of its characters. Other
 * characters appear in the reader's own fonts.
 *
 * @type {Record<string, { source: string, ranges: [first: number, last: number][] }>} pairs of code
 *   points, both included; `source` is a script in the names of Geist's files
 */
const SLICES = {
  // ASCII without the characters of code, and the punctuation of the page's own text. The sign-in
  // route loads this slice alone.
  basic: {
    source: "latin",
    ranges: [
      ...[[0x20, 0x5b], only("]"), only("_"), [0x61, 0x7a], only("\u00a0"), only("·"), only("×")],
      ...[[0x2013, 0x2014], [0x2018, 0x2019], [0x201c, 0x201d], only("…"), only("↑"), only("↓")],
      only("−"),
    ],
  },
  accents: {
    source: "latin",
    ranges: [
      [0xc0, 0xd6],
      [0xd8, 0xff],
    ],
  },
  "more-accents": { source: "latin-ext", ranges: [[0x100, 0x17f]] },
};

/**
 * Writes the slices and their style sheet into `www/build/font/`.
 *
 * @param {import("../build.mjs").Context} context
 */
export async function buildFont({ made }) {
  const inputs = [join(GEIST, "package.json")];
  await whenChanged({ name: "font", inputs, outputs: [FONT], made }, async () => {
    const { default: subsetFont } = await import("subset-font");
    await mkdir(FONT, { recursive: true });
    const faces = [];
    for (const [name, { source, ranges }] of Object.entries(SLICES)) {
      const font = await readFile(join(GEIST, "files", `geist-${source}-wght-normal.woff2`));
      await writeFile(
        join(FONT, `geist-${name}.woff2`),
        await subsetFont(font, charactersOf(ranges), OPTIONS),
      );
      faces.push(fontFace(name, ranges));
    }
    await writeFile(STYLES, faces.join("\n"));
  });
}

function only(character) {
  const point = character.codePointAt(0);
  return [point, point];
}

function charactersOf(ranges) {
  const points = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
  return String.fromCodePoint(...points);
}

/** `optional`: a page that has begun to show text in another font keeps it until the next load. */
function fontFace(name, ranges) {
  return `@font-face {
  font-family: Geist;
  font-weight: ${WEIGHT.min} ${WEIGHT.max};
  font-display: optional;
  src: url("./geist-${name}.woff2") format("woff2");
  unicode-range: ${ranges.map(unicodeRange).join(", ")};
}
`;
}

function unicodeRange([first, last]) {
  const hex = (point) => point.toString(16).toUpperCase();
  return first === last ? `U+${hex(first)}` : `U+${hex(first)}-${hex(last)}`;
}
