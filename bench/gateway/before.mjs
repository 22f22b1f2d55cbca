/** The build of an earlier commit, which the present Worker is compared with. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "../../scripts/child.mjs";
import { BEFORE_COMMIT as COMMIT, SCRIPT, WASM } from "./variants.mjs";

/**
 * Gives the folder with the earlier build. It is built once, outside of the repository;
 * `BENCH_BEFORE` names a checkout where it has been built instead.
 *
 * @param {import("../../scripts/setup.mjs").Context} context
 */
export async function provideBefore({ env }) {
  if (env.BENCH_BEFORE) return join(env.BENCH_BEFORE, "worker", "build");
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "quillgate", "bench");
  const folder = join(cache, `gateway-${COMMIT}`);
  if (!existsSync(folder)) await buildBefore(folder, env);
  return folder;
}

async function buildBefore(folder, env) {
  console.log(`bench: building the Worker of ${COMMIT}, once, for a few minutes …`);
  const source = `${folder}-source`;
  const archive = `${source}.tar`;
  const built = `${folder}-new`;
  for (const path of [source, built]) {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { recursive: true });
  }
  const step = `reading commit ${COMMIT} (BENCH_BEFORE names a checkout to use instead)`;
  await run(step, "git", ["archive", "--format=tar", `--output=${archive}`, COMMIT], { env });
  await run(step, "tar", ["-xf", archive, "-C", source], { env });
  const build = [join("scripts", "build.mjs"), "worker"];
  await run(`building ${COMMIT}`, process.execPath, build, { cwd: source, env });
  for (const name of [SCRIPT, WASM]) {
    await copyFile(join(source, "worker", "build", name), join(built, name));
  }
  await rename(built, folder);
  await rm(source, { recursive: true });
  await rm(archive);
}
