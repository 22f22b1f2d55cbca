/**
 * @typedef {object} ShortNames the names that wasm-opt has assigned
 * @property {[string, string, string][]} imports module, old name and new name of each
 * @property {[string, string][]} exports old name and new name of each
 */

/**
 * Removes repeated keys from the object of imported modules in glue for the web. wasm-bindgen lists
 * a module once for each function that the wasm imports from it, and bundlers warn about that.
 *
 * @param {string} glue wasm-bindgen's JavaScript
 * @returns {string}
 */
export function withoutRepeatedKeys(glue) {
  const keys = new Set();
  const isFirst = (line) => {
    const key = /^ +"(\.\/[^"]+)": import\d+,$/.exec(line)?.[1];
    if (key === undefined) return true;
    const isNew = !keys.has(key);
    keys.add(key);
    return isNew;
  };
  return glue.split("\n").filter(isFirst).join("\n");
}

/**
 * Converts glue for bundlers to a module that exports the wasm's `imports` under their short names.
 * wasm-bindgen's names contain hashes that do not compress. The importer of the module passes the
 * instance's exports to `setExports`.
 *
 * @param {string} glue wasm-bindgen's JavaScript
 * @param {ShortNames} names
 * @param {Map<string, string>} modules new paths of the crate's modules, by the end of their old
 *   ones
 * @returns {string}
 */
export function asImports(glue, { imports, exports }, modules) {
  let module = find(glue, /^import .*? from '(.*)';$/m) && glue;
  const members = [];
  for (const [from, name, to] of imports) {
    if (/_bg\.js$/.test(from)) {
      const declared = new RegExp(`^export function ${escaped(name)}\\(`, "m");
      find(module, declared);
      module = module.replace(declared, `function ${to}(`);
      members.push(to);
    } else {
      module = `import { ${name} as ${to} } from '${from}';\n${module}`;
      members.push(to);
    }
  }
  module += `\nexport const imports = { ${members.join(", ")} };\n`;
  for (const [part, path] of modules) {
    const address = new RegExp(`(from )'[^']*${escaped(part)}';`, "g");
    find(module, address);
    module = module.replaceAll(address, `$1'${path}';`);
  }
  find(module, /^export function __wbg_set_wasm\(/m);
  module = module.replace("export function __wbg_set_wasm(", "export function setExports(");
  for (const [code, replacement] of [...UNNEEDED, NAMES_ONCE]) {
    if (!module.includes(code)) throw new Error(`the glue does not contain ${code}`);
    module = module.replace(code, replacement);
  }
  const short = new Map(exports);
  // Fills the table of references in builds that have one.
  if (short.has("__wbindgen_start")) {
    module = module.replace("    wasm = val;\n", "    wasm = val;\n    wasm.__wbindgen_start();\n");
  }
  module = module.replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${rename(short, name)}`);
  // Calls of a name that was not renamed would fail at run time.
  const left = /__wb\w+/.exec(module.replaceAll(/this\.__wbg_ptr|__destroy_into_raw/g, ""));
  if (left) throw new Error(`the glue still contains ${left[0]}`);
  return module;
}

/**
 * Code that the package does not need: fallbacks for features that every supported runtime has, a
 * workaround for Safari, a branch that never runs, an unused method, and globals that it reads on import.
 */
const UNNEEDED = [
  // Safari's decoder fails after 2 GiB of text, which takes seven million calls of this package.
  ["const MAX_SAFARI_DECODE_BYTES = 2146435072;\nlet numBytesDecoded = 0;\n", ""],
  [
    `    numBytesDecoded += bytes.length;
    if (numBytesDecoded >= MAX_SAFARI_DECODE_BYTES) {
        cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
        cachedTextDecoder.decode();
        numBytesDecoded = bytes.length;
    }
`,
    "",
  ],
  ["if (Symbol.dispose) Task.prototype[Symbol.dispose] = Task.prototype.free;\n", ""],
  [
    `cachedDataViewMemory0 === null || cachedDataViewMemory0.buffer.detached === true || (cachedDataViewMemory0.buffer.detached === undefined && cachedDataViewMemory0.buffer !== wasm.memory.buffer)`,
    "cachedDataViewMemory0?.buffer !== wasm.memory.buffer",
  ],
  [
    `if (!('encodeInto' in cachedTextEncoder)) {
    cachedTextEncoder.encodeInto = function (arg, view) {
        const buf = cachedTextEncoder.encode(arg);
        view.set(buf);
        return {
            read: arg.length,
            written: buf.length
        };
    };
}
`,
    "",
  ],
  [
    `    if (realloc === undefined) {
        const buf = cachedTextEncoder.encode(arg);
        const ptr = malloc(buf.length, 1) >>> 0;
        getUint8ArrayMemory0().subarray(ptr, ptr + buf.length).set(buf);
        WASM_VECTOR_LEN = buf.length;
        return ptr;
    }
`,
    "",
  ],
  // Created on the first use, because some hosts of tests, such as jsdom, have neither.
  [
    `let cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
cachedTextDecoder.decode();
`,
    "let cachedTextDecoder;\n",
  ],
  [
    "return cachedTextDecoder.decode(bytes)",
    "return (cachedTextDecoder ??= new TextDecoder('utf-8', { ignoreBOM: true })).decode(bytes)",
  ],
  ["const cachedTextEncoder = new TextEncoder();\n", "let cachedTextEncoder;\n"],
  ["cachedTextEncoder.encodeInto(arg", "(cachedTextEncoder ??= new TextEncoder()).encodeInto(arg"],
];

/**
 * Decodes each property name only once. Names are constants in the wasm, each shorter than 64
 * bytes, so the address and the length identify one.
 */
const NAMES_ONCE = [
  "read(arg0 >>> 0, getStringFromWasm0(arg1, arg2));\n    return ret;\n}\n",
  "read(arg0 >>> 0, (names[arg1 * 64 + arg2] ??= getStringFromWasm0(arg1, arg2)));\n    return ret;\n}\nconst names = {};\n",
];

function rename(names, name) {
  return names.get(name) ?? name;
}

/** Finds a pattern that the glue must contain. */
function find(glue, pattern) {
  const found = pattern.exec(glue);
  if (!found) throw new Error(`the glue does not match ${pattern}`);
  return found;
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
