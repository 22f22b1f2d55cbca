/**
 * `node scripts/action.mjs`: bundles the GitHub Action with the built package, as GitHub runs it:
 * one file, `action/dist/index.mjs`, which is checked in.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { run, runMain } from "./child.mjs";
import { ROOT } from "./versions.mjs";

const ACTION = join(ROOT, "action");
const TSC = join(ROOT, "node_modules", ".bin", "tsc");
/** The bundle, as `action.yml` names it. */
export const ACTION_BUNDLE = join(ACTION, "dist", "index.mjs");
const BANNER =
  "// Made by scripts/action.mjs from action/src and the npm package quillgate: do not edit.";

/**
 * Bundles the action. It is not minified, so that whoever uses it can read what they run.
 *
 * @returns {Promise<string>} the bundle's text
 */
export async function bundleAction() {
  // Only here, since npm's packages may not be installed when this file is loaded.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ACTION, "src", "main.ts")],
    write: false,
    bundle: true,
    platform: "node",
    format: "esm",
    // The oldest Node.js that a runner of one's own may have; GitHub's have a newer one.
    target: "node20.19",
    charset: "utf8",
    banner: { js: BANNER },
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runMain(async () => {
    await run("checking the action's TypeScript", TSC, ["-p", ACTION]);
    await mkdir(dirname(ACTION_BUNDLE), { recursive: true });
    await writeFile(ACTION_BUNDLE, await bundleAction());
  });
}
