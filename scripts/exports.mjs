import { readFile, writeFile } from "node:fs/promises";

/**
 * Removes exports from a module, so that wasm-opt can drop what only they use: wasm-bindgen exports
 * every class of every crate, whether anybody makes one or not.
 *
 * @param {string} path the module's file
 * @param {RegExp} pattern of the names
 * @returns {Promise<string[]>} what was removed
 */
export async function removeExports(path, pattern) {
  // Only here, since this file is loaded before the npm packages are installed.
  const { default: binaryen } = await import("binaryen");
  binaryen.setDebugInfo(true); // Names that are there stay.
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
