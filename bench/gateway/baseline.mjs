/** Provides the Worker of an earlier commit, with which the benchmark compares the present one. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "../../scripts/child.mjs";
import { BASELINE_COMMIT as COMMIT, MODULES } from "./variants.mjs";

/** Returns the folder with the baseline build, which is built once in the user's cache. */
export async function provideBaseline({ env }) {
  if (env.BENCH_BASELINE) return join(env.BENCH_BASELINE, "worker", "build");
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "quillgate", "bench");
  const folder = join(cache, `gateway-${COMMIT}`);
  if (!existsSync(folder)) await buildBaseline(folder, env);
  return folder;
}

async function buildBaseline(folder, env) {
  console.log(`bench: building the Worker of ${COMMIT} once, which takes a few minutes …`);
  const source = `${folder}-source`;
  const archive = `${source}.tar`;
  const incomplete = `${folder}-incomplete`;
  for (const path of [source, incomplete]) {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { recursive: true });
  }
  const step = `reading commit ${COMMIT} (set BENCH_BASELINE to use a checkout)`;
  await run(step, "git", ["archive", "--format=tar", `--output=${archive}`, COMMIT], { env });
  await run(step, "tar", ["-xf", archive, "-C", source], { env });
  const build = [join("scripts", "build.mjs"), "worker"];
  await run(`building ${COMMIT}`, process.execPath, build, { cwd: source, env });
  for (const name of MODULES) {
    await copyFile(join(source, "worker", "build", name), join(incomplete, name));
  }
  await rename(incomplete, folder);
  await rm(source, { recursive: true });
  await rm(archive);
}
