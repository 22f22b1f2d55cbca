import { readFile, writeFile } from "node:fs/promises";

/**
 * Removes exports from a wasm file, so that wasm-opt can remove the functions that only they use.
 * wasm-bindgen exports every class of every crate, used or not.
 *
 * @param {string} path of the file
 * @param {RegExp} pattern of the names
 * @returns {Promise<string[]>} the removed names
 */
export async function removeExports(path, pattern) {
  // Imported here because this file is loaded before the npm packages are installed.
  const { default: binaryen } = await import("binaryen");
  binaryen.setDebugInfo(true); // Keeps the names of functions.
  const module = binaryen.readBinary(await readFile(path));
  try {
    const all = Array.from({ length: module.getNumExports() }, (_, at) => {
      return binaryen.getExportInfo(module.getExportByIndex(at)).name;
    });
    const unused = all.filter((name) => pattern.test(name));
    for (const name of unused) module.removeExport(name);
    await writeFile(path, module.emitBinary());
    return unused;
  } finally {
    module.dispose();
  }
}
