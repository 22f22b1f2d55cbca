import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT } from "./versions.mjs";

/** Inside node_modules, so that a new set of packages starts from nothing. */
const RECORDS = join(ROOT, "node_modules", ".cache", "quillgate");

/**
 * Makes files only when what they are made from has changed, or when they are
 * not as they were left.
 *
 * @param {string} name what is made
 * @param {(string | Uint8Array)[]} inputs everything that the result depends on
 * @param {string[]} outputs the paths of the files that `make` writes
 * @param {() => Promise<unknown>} make
 * @returns {Promise<boolean>} whether they had to be made
 */
export async function whenChanged(name, inputs, outputs, make) {
  const record = join(RECORDS, `${name}.json`);
  const input = digest(...inputs);
  const before = await readFile(record, "utf8").catch(() => undefined);
  if (before === (await describe(input, outputs))) return false;
  await make();
  await mkdir(dirname(record), { recursive: true });
  await writeFile(record, await describe(input, outputs));
  return true;
}

async function describe(input, outputs) {
  const made = await Promise.all(
    outputs.map((path) => readFile(path).then(digest, () => "missing")),
  );
  return JSON.stringify({ input, made });
}

function digest(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
}
