/** Runs the package in workerd, in a Worker that wrangler bundles. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Miniflare, NoOpLog } from "miniflare";
import { ROOT } from "../../../scripts/versions.mjs";
import { install, runProgram, versionOf } from "../installed.mjs";
import {
  cell,
  conclude,
  copyConformance,
  direct,
  exported,
  RUN_CHECKS,
  SPECIFIERS,
  upstream,
  viaGateway,
} from "./fixtures.mjs";

const COMPATIBILITY_DATE = "2026-04-01";
/** Before 2024-11-11, workerd refuses the option `cache` of `fetch`. */
const OLD_DATE = "2024-11-01";
const WRANGLER = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

export function checkWorkerd(way) {
  cell("workerd", `${way}, by wrangler`, (row) => conformWorker(row, way, COMPATIBILITY_DATE));
}

export function checkOldWorkerd() {
  const way = `\`import\`, by wrangler, compatibility date ${OLD_DATE}`;
  cell("workerd", way, (row) => conformWorker(row, "`import`", OLD_DATE));
}

async function conformWorker(row, way, date) {
  row.version = versionOf("workerd");
  const root = await installWorker(SPECIFIERS[way], date);
  await bundle(root);
  conclude(row, await run(root, date));
}

async function installWorker(specifier, date) {
  const root = await install(`${specifier.replace("/", "-in-workerd-")}-${date}`, {
    "wrangler.toml": `name = "cell"\nmain = "worker.mjs"\ncompatibility_date = "${date}"\n`,
    "worker.mjs": `
import * as quillgate from "${specifier}";
import { conform } from "./conformance.mjs";
import settings from "./settings.mjs";
export default {
  async fetch() {
    ${RUN_CHECKS}
    return Response.json(results);
  },
};
`,
    "settings.mjs": exported({ direct: direct(upstream.url), gateway: viaGateway() }),
  });
  copyConformance(root);
  return root;
}

/** Bundles a Worker as `wrangler deploy` does, without the network or the user's settings. */
async function bundle(root) {
  const args = [WRANGLER, "deploy", "--dry-run", "--outdir", "out"];
  const env = {
    ...process.env,
    CI: "true",
    HOME: root,
    WRANGLER_LOG_PATH: join(root, "logs"),
    WRANGLER_SEND_METRICS: "false",
    XDG_CONFIG_HOME: join(root, "config"),
  };
  await runProgram("wrangler", process.execPath, args, { cwd: root, env });
}

async function run(root, compatibilityDate) {
  const out = join(root, "out");
  assert.ok(readdirSync(out).includes("worker.js"));
  const errors = [];
  const miniflare = new Miniflare({
    modules: true,
    modulesRoot: out,
    scriptPath: join(out, "worker.js"),
    modulesRules: [
      { type: "ESModule", include: ["**/*.js"] },
      { type: "CompiledWasm", include: ["**/*.wasm"] },
    ],
    compatibilityDate,
    cf: false,
    log: new NoOpLog(),
    handleRuntimeStdio: (_, stderr) => stderr.on("data", (chunk) => errors.push(chunk)),
  });
  try {
    const response = await fetch(await miniflare.ready);
    assert.equal(response.status, 200, Buffer.concat(errors).toString());
    return await response.json();
  } finally {
    await miniflare.dispose();
  }
}
