/**
 * Gives the glue the short names that wasm-opt has given a module's imports and exports.
 * wasm-bindgen's own have a hash each, which no compression makes smaller: together they
 * are a twentieth of what a user of the package downloads.
 *
 * @param {string} glue wasm-bindgen's JavaScript
 * @param {{ imports: [string, string, string][], exports: [string, string][] }} names
 *   module, old and new name of every import; old and new name of every export
 * @returns {string}
 */
export function withShortNames(glue, { imports, exports }) {
  // The module of what wasm-bindgen itself brings along.
  const [, own] = find(glue, /^ +"(\.\/\w+_bg\.js)": import0,$/m);
  const ownNames = new Map();
  const others = [];
  for (const [module, name, to] of imports) {
    if (module === own) {
      find(glue, new RegExp(`^ +${escaped(name)}: function`, "m"));
      ownNames.set(name, to);
    } else {
      const [, variable] = find(glue, new RegExp(`"${escaped(module)}": (import\\d+),`));
      others.push(`${to}: ${variable}.${name}`);
    }
  }
  // All of a module's imports are of one module now, "a".
  const list = new RegExp(`^( +)"${escaped(own)}": import0,\n(?:\\1"[^"]+": import\\d+,\n)*`, "m");
  const members = ["...import0", ...others].join(", ");
  const exportNames = new Map(exports);
  const short = glue
    .replace(list, (_, indent) => `${indent}a: { ${members} },\n`)
    .replace(/^( +)(\w+)(?=: function)/gm, (_, indent, name) => indent + rename(ownNames, name))
    .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${rename(exportNames, name)}`);
  const left = [...exportNames.keys()].filter((name) => {
    return name.startsWith("__") && new RegExp(`\\.${escaped(name)}\\b`).test(short);
  });
  if (left.length > 0) throw new Error(`the glue still names ${left}`);
  return short;
}

/**
 * Makes a module of wasm-bindgen's glue for bundlers that exports the wasm's `imports`, under the
 * short names that wasm-opt has given them, and is told by `setExports` what the wasm exports.
 *
 * @param {string} glue wasm-bindgen's JavaScript
 * @param {{ imports: [string, string, string][], exports: [string, string][] }} names as above
 * @param {Map<string, string>} modules by a part of its address, where a module of the crate stands
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
    if (!module.includes(code)) throw new Error(`the glue has no ${code}`);
    module = module.replace(code, replacement);
  }
  const short = new Map(exports);
  module = module.replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${rename(short, name)}`);
  // A name that was not renamed would be missed when it is called, and not before.
  const left = /__wb\w+/.exec(module.replaceAll(/this\.__wbg_ptr|__destroy_into_raw/g, ""));
  if (left) throw new Error(`the glue still names ${left[0]}`);
  return module;
}

/**
 * What every runtime has that can load the package, a branch that is never taken, and a method that
 * the driver has no use for.
 */
const UNNEEDED = [
  // Safari's decoder ends after 2 GiB of text, which is seven million calls of this package.
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
  [
    `(typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : `,
    "",
  ],
];

/**
 * The names of parameters are constants of the wasm, each shorter than 64 bytes: one that stands where
 * another stood is the same, and decoded once.
 */
const NAMES_ONCE = [
  "read(arg0 >>> 0, getStringFromWasm0(arg1, arg2));\n    return ret;\n}\n",
  "read(arg0 >>> 0, (names[arg1 * 64 + arg2] ??= getStringFromWasm0(arg1, arg2)));\n    return ret;\n}\nconst names = {};\n",
];

function rename(names, name) {
  return names.get(name) ?? name;
}

/** Finds what must be there. */
function find(glue, pattern) {
  const found = pattern.exec(glue);
  if (!found) throw new Error(`the glue has nothing like ${pattern}`);
  return found;
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
