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
  // Text without kerning needs none of these tables.
  dropTables: ["gasp", "GDEF", "GPOS", "MVAR", "STAT"],
};

/** A browser loads a slice for its first character. Others appear in the reader's own fonts. */
const SLICES = {
  // ASCII without the characters of code, and the punctuation of the page's own text. The sign-in
  // route loads this slice alone.
  basic: {
    source: "latin",
    range:
      "U+20-5B, U+5D, U+5F, U+61-7A, U+A0, U+B7, U+D7, U+2013-2014, U+2018-2019, U+201C-201D, U+2026, U+2191, U+2193, U+2212",
  },
  accents: { source: "latin", range: "U+C0-D6, U+D8-FF" },
  // Letters of Central European languages and Turkish.
  "more-accents": {
    source: "latin-ext",
    range:
      "U+102-107, U+10C-10F, U+118-11B, U+11E-11F, U+130-131, U+141-144, U+147-148, U+150-153, U+158-15B, U+15E-165, U+16E-171, U+179-17E",
  },
};

/** Writes the slices and their style sheet into `www/build/font/`. */
export async function buildFont({ made }) {
  const inputs = [join(GEIST, "package.json")];
  await whenChanged({ name: "font", inputs, outputs: [FONT], made }, async () => {
    const { default: subsetFont } = await import("subset-font");
    await mkdir(FONT, { recursive: true });
    const faces = [];
    for (const [name, { source, range }] of Object.entries(SLICES)) {
      const font = await readFile(join(GEIST, "files", `geist-${source}-wght-normal.woff2`));
      await writeFile(
        join(FONT, `geist-${name}.woff2`),
        await subsetFont(font, charactersOf(range), OPTIONS),
      );
      faces.push(fontFace(name, range));
    }
    await writeFile(STYLES, faces.join("\n"));
  });
}

/** Returns the characters of a value of `unicode-range`. */
function charactersOf(range) {
  const points = range.split(", ").flatMap((part) => {
    const [first, last = first] = part
      .replace("U+", "")
      .split("-")
      .map((hex) => parseInt(hex, 16));
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return String.fromCodePoint(...points);
}

/** With `optional`, a page that shows text in another font keeps it until the next load. */
function fontFace(name, range) {
  return `@font-face {
  font-family: Geist;
  font-weight: ${WEIGHT.min} ${WEIGHT.max};
  font-display: optional;
  src: url("./geist-${name}.woff2") format("woff2");
  unicode-range: ${range};
}
`;
}
