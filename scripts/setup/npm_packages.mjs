/** npm packages, exactly as the lock files list them. */
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../child.mjs";
import { ROOT } from "../versions.mjs";

export const npmPackages = packagesOf(".");

/** Other runtimes, bundlers and checkers, which only the package's tests use. */
export const packageTools = packagesOf(join("tests", "package", "tools"));

function packagesOf(folder) {
  const cwd = join(ROOT, folder);
  const stamp = join(cwd, "node_modules", ".quillgate-lock");
  return {
    title: folder === "." ? "npm packages" : `npm packages of ${folder}`,
    async find() {
      const present = await readFile(stamp, "utf8").catch(() => undefined);
      return present === (await lockDigest(cwd)) ? cwd : undefined;
    },
    async install(context) {
      await rm(stamp, { force: true });
      await run("installing npm packages", "npm", ["ci", "--include=dev"], { ...context, cwd });
      await writeFile(stamp, await lockDigest(cwd));
    },
  };
}

/** Returns a string that changes whenever `node_modules` must be installed again. */
async function lockDigest(folder) {
  const lock = await readFile(join(folder, "package-lock.json"));
  const digest = createHash("sha256").update(lock).digest("hex");
  return `${digest} ${process.platform}-${process.arch}\n`;
}
