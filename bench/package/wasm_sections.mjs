/** Reads the sizes of the sections and functions of a wasm module. */

const SECTIONS = [
  ...["custom", "type", "import", "function", "table", "memory", "global", "export", "start"],
  ...["element", "code", "data", "data count", "tag"],
];
const FUNCTION = 0;
const FUNCTION_NAMES = 1;

/**
 * @param {Buffer} module
 * @returns {{ sections: Record<string, number>, functions: { name: string, size: number }[] }}
 *   sizes in bytes, including headers; a function without a name is called by its index
 */
export function readSections(module) {
  const sections = {};
  const sizes = [];
  let names = new Map();
  let imported = 0;
  for (const { kind, header, body } of sectionsOf(module)) {
    const reader = new Reader(body);
    const section = kind === "custom" ? reader.text() : kind;
    sections[section] = (sections[section] ?? 0) + body.length + header;
    if (section === "import") imported = countImportedFunctions(reader);
    if (section === "code") sizes.push(...readFunctionSizes(reader));
    if (section === "name") names = readFunctionNames(reader);
  }
  const functions = sizes.map((size, at) => ({
    name: names.get(imported + at) ?? String(imported + at),
    size,
  }));
  return { sections, functions };
}

/**
 * Yields the sections after the module's first 8 bytes. `header` is the size of a section's header.
 */
function* sectionsOf(module) {
  const reader = new Reader(module.subarray(8));
  while (!reader.isAtEnd) {
    const start = reader.at;
    const kind = SECTIONS[reader.byte()];
    const length = reader.number();
    yield { kind, header: reader.at - start, body: reader.bytes(length) };
  }
}

function countImportedFunctions(reader) {
  let count = 0;
  for (let left = reader.number(); left > 0; left--) {
    reader.text();
    reader.text();
    const kind = reader.byte();
    if (kind !== FUNCTION) throw new Error("an import is not a function");
    reader.number();
    count++;
  }
  return count;
}

function* readFunctionSizes(reader) {
  for (let left = reader.number(); left > 0; left--) {
    const start = reader.at;
    reader.bytes(reader.number());
    yield reader.at - start;
  }
}

function readFunctionNames(reader) {
  const names = new Map();
  while (!reader.isAtEnd) {
    const kind = reader.byte();
    const body = new Reader(reader.bytes(reader.number()));
    if (kind !== FUNCTION_NAMES) continue;
    for (let left = body.number(); left > 0; left--) names.set(body.number(), body.text());
  }
  return names;
}

class Reader {
  at = 0;
  #bytes;

  constructor(bytes) {
    this.#bytes = bytes;
  }

  get isAtEnd() {
    return this.at >= this.#bytes.length;
  }

  byte() {
    return this.#bytes[this.at++];
  }

  /** Reads an unsigned integer in LEB128. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  bytes(length) {
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  text() {
    return this.bytes(this.number()).toString("utf8");
  }
}
