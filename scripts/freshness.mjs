import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestFiles } from "./files.mjs";
import { ROOT } from "./versions.mjs";

/** Inside node_modules, so that a new set of packages starts from nothing. */
export const RECORDS = join(ROOT, "node_modules", ".cache", "quillgate");
/** What every step depends on: the versions of the tools, and how they are called. */
const TOOLS = [
  "package-lock.json",
  "scripts/build.mjs",
  "scripts/glue.mjs",
  "scripts/versions.mjs",
].map((path) => join(ROOT, path));

/**
 * @typedef {object} Step
 * @property {string} name what the step makes; no two steps have the same
 * @property {string[]} inputs the files and folders that it is made from
 * @property {string[]} outputs the files and folders that the step writes
 * @property {string[]} [made] receives the name when the step runs
 */

/**
 * Runs a step when its inputs or the tools have changed, or when its outputs are not as it
 * left them.
 *
 * @param {Step} step
 * @param {() => Promise<unknown>} make
 */
export async function whenChanged({ name, inputs, outputs, made }, make) {
  const record = join(RECORDS, `${name.replaceAll(" ", "-")}.json`);
  const input = await digestFiles([...TOOLS, ...inputs]);
  const describe = async () => JSON.stringify({ input, output: await digestFiles(outputs) });
  const before = await readFile(record, "utf8").catch(() => undefined);
  if (before === (await describe())) return;
  made?.push(name);
  await make();
  await mkdir(dirname(record), { recursive: true });
  await writeFile(record, await describe());
}
