/** Reads the operations that the core declares. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildGenerator } from "../../scripts/build.mjs";
import { run } from "../../scripts/child.mjs";

/** Returns the core's operations of Mintlify's API, which have a link to its documentation. */
export async function readDeclared({ env } = process) {
  const program = await buildGenerator({ env });
  const folder = await mkdtemp(join(tmpdir(), "quillgate-contract-"));
  try {
    const file = join(folder, "operations.json");
    await run("listing the operations", program, ["operations", file], { env });
    const operations = JSON.parse(await readFile(file, "utf8"));
    return operations.filter(({ link }) => link !== null);
  } finally {
    await rm(folder, { recursive: true });
  }
}
