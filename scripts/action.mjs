/**
 * `node scripts/action.mjs`: bundles the GitHub Action with the built package into
 * `action/dist/index.mjs`. GitHub runs this file from the repository, so it is committed.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run, runMain } from "./child.mjs";
import { ROOT } from "./versions.mjs";

const ACTION = join(ROOT, "action");
const TSC = join(ROOT, "node_modules", ".bin", "tsc");
/** The bundle, which `action.yml` names. */
export const ACTION_BUNDLE = join(ACTION, "dist", "index.mjs");
const BANNER =
  "// Made by scripts/action.mjs from action/src and the npm package quillgate: do not edit.";

/** Not minified, so that users can read the code that they run. */
export async function bundleAction() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ACTION, "src", "main.ts")],
    write: false,
    bundle: true,
    platform: "node",
    format: "esm",
    // Runners use Node.js 24, as `action.yml` requests. The tests run the bundle with Node.js 20.19
    // or newer.
    target: "node20.19",
    charset: "utf8",
    banner: { js: BANNER },
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

if (process.argv[1] === import.meta.filename) {
  await runMain(async () => {
    await run("checking the action's TypeScript", TSC, ["-p", ACTION]);
    await mkdir(dirname(ACTION_BUNDLE), { recursive: true });
    await writeFile(ACTION_BUNDLE, await bundleAction());
  });
}
