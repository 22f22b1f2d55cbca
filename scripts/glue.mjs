/**
 * Gives the glue the short names that wasm-opt has given a module's imports and exports.
 * wasm-bindgen's own have a hash each, which no compression makes smaller: together they
 * are a twentieth of what a user downloads.
 *
 * @param {string} glue wasm-bindgen's JavaScript
 * @param {{ imports: [string, string, string][], exports: [string, string][] }} names
 *   module, old and new name of every import; old and new name of every export
 * @returns {string}
 */
export function withShortNames(glue, { imports, exports }) {
  let short = glue;
  const others = [];
  for (const [module, name, to] of imports) {
    if (module === OWN) {
      const key = new RegExp(`^(\\s+)${escaped(name)}: function`, "gm");
      short = replaced(short, key, `$1${escapedReplacement(to)}: function`);
    } else {
      const [, variable] = new RegExp(`"${escaped(module)}": (import\\d+),`).exec(short) ?? [];
      if (!variable) throw new Error(`the glue does not import ${module}`);
      others.push(`${to}: ${variable}.${name}`);
    }
  }
  // All of a module's imports are of one module now, "a".
  const members = ["...import0", ...others].join(", ");
  const list = /^( +)"\.\/core_bg\.js": import0,\n(?:\1"[^"]+": import\d+,\n)*/gm;
  short = replaced(short, list, `$1a: { ${escapedReplacement(members)} },\n`);
  for (const [name, to] of exports) {
    const use = new RegExp(`\\bwasm\\.${escaped(name)}\\b`, "g");
    short = short.replace(use, `wasm.${escapedReplacement(to)}`);
  }
  const left = exports.filter(([name]) => new RegExp(`\\.${escaped(name)}\\b`).test(short));
  if (left.length > 0) throw new Error(`the glue still names ${left.map(([name]) => name)}`);
  return short;
}

/** The module of what wasm-bindgen itself brings along. */
const OWN = "./core_bg.js";

/** Replaces what must be there. */
function replaced(text, pattern, replacement) {
  const done = text.replace(pattern, replacement);
  if (done === text) throw new Error(`the glue has nothing like ${pattern}`);
  return done;
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function escapedReplacement(text) {
  return text.replaceAll("$", "$$$$");
}
