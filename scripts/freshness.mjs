import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestFiles } from "./files.mjs";
import { ROOT } from "./versions.mjs";

/** Inside node_modules, so that a new installation of the packages repeats every step. */
export const RECORDS = join(ROOT, "node_modules", ".cache", "quillgate");
/** Inputs of every step: the code of the steps, and the versions of their tools. */
const TOOLS = [
  "package-lock.json",
  ...["bindgen", "build"].map((name) => join("scripts", name)),
].map((path) => join(ROOT, path));

/** Runs a step unless its inputs, its outputs and the tools are the same as after its last run. */
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
