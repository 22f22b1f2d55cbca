import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";

const WORKER = join(ROOT, "worker");

/** The gateway's script, built by `npm run build`. */
export const BUILT_SCRIPT = join(WORKER, "build", "index.js");

/** Copies `worker/wrangler.toml` to a temporary folder and replaces the script in the copy. */
export function configWith(script) {
  const folder = mkdtempSync(join(tmpdir(), "quillgate-config-"));
  const main = script.path ?? join(folder, "script.js");
  if (script.source !== undefined) writeFileSync(main, script.source);
  const original = readFileSync(join(WORKER, "wrangler.toml"), "utf8");
  const withMain = replacePath(original, "main", main);
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, replacePath(withMain, "directory", join(ROOT, "www", "dist")));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return config;
}

function replacePath(toml, key, path) {
  const line = new RegExp(`^${key} = .*$`, "m");
  assert.match(toml, line);
  return toml.replace(line, () => `${key} = ${JSON.stringify(path)}`);
}
