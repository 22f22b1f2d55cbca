/** Builds the npm package `quillgate-gateway`: the deployed Worker, its page and its tools. */
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cargoBuildWasm, targetFolder } from "../cargo.mjs";
import { run } from "../child.mjs";
import { whenChanged } from "../freshness.mjs";
import { adaptLinks, GATEWAY_DOCS } from "../gateway_docs.mjs";
import { makeGatewayTemplate } from "../gateway_template.mjs";
import { listLicences } from "../licences.mjs";
import { ROOT } from "../versions.mjs";
import { keepOnly, replaceTree } from "./folders.mjs";
import { bindForWeb, filesOf, withoutLocalPaths } from "./wasm.mjs";
import { WORKER, WORKER_MODULES } from "./worker.mjs";

const GATEWAY = join(ROOT, "gateway");
const DIST = join(GATEWAY, "dist");
const TOOLS = join(DIST, "tools");
/** Files and folders to copy: their paths in the repository, by their paths in the package. */
const COPIES = Object.freeze({
  LICENSE: "LICENSE",
  "dist/migrations": "worker/migrations",
  "dist/page": "www/dist",
  "dist/webhook_key.mjs": "scripts/webhook_key.mjs",
});
/** The crate that checks the gateway's variables. */
const RULES = { crate: "quillgate-check-config", module: "check_config" };

/**
 * Builds `gateway/dist/` and copies documents to `gateway/`, ready for `npm pack`. The Worker and
 * the page must have been built.
 *
 * @param {import("../build.mjs").Context} context
 */
export async function buildGateway(context) {
  const { bin, made } = context;
  await mkdir(TOOLS, { recursive: true });
  const paths = [...Object.keys(COPIES), ...Object.keys(GATEWAY_DOCS), ...WORKER_MODULES];
  await keepOnly(DIST, [...paths.map((path) => basename(path)), "template", "tools"]);
  for (const [to, from] of Object.entries(COPIES)) {
    const [source, copy] = [join(ROOT, from), join(GATEWAY, to)];
    const step = { name: `gateway ${basename(to)}`, inputs: [source], outputs: [copy], made };
    await whenChanged(step, () => replaceTree(source, copy));
  }
  const modules = WORKER_MODULES.map((path) => join(DIST, basename(path)));
  const step = { name: "gateway Worker", inputs: WORKER_MODULES, outputs: modules, made };
  await whenChanged(step, async () => {
    for (const path of WORKER_MODULES) await copyFile(path, join(DIST, basename(path)));
  });
  await writeTemplate(context);
  await writeDocs(context);
  await writeLicences(context);

  const rules = await compileRules(context);
  const options = { name: "gateway rules", module: RULES.module, out: TOOLS, optimise: true };
  await bindForWeb(options, rules, context);
  const inputs = ["src", "tsconfig.json"].map((name) => join(GATEWAY, name));
  await whenChanged({ name: "gateway", inputs, outputs: [TOOLS], made }, async () => {
    await keepOnly(TOOLS, filesOf(RULES.module));
    await run("compiling the gateway's TypeScript", bin.tsc, ["-p", GATEWAY], context);
  });
}

/** Writes the documentation with links that work inside the package. */
async function writeDocs({ made }) {
  for (const [to, from] of Object.entries(GATEWAY_DOCS)) {
    const [source, copy] = [join(ROOT, from), join(GATEWAY, to)];
    const step = { name: `gateway ${basename(to)}`, inputs: [source], outputs: [copy], made };
    await whenChanged(step, async () => {
      await writeFile(copy, adaptLinks(await readFile(source, "utf8"), { from, to }));
    });
  }
}

/** Writes the licences of the third-party code in the package. */
async function writeLicences({ env, made }) {
  const inputs = ["Cargo.lock", "package-lock.json", "scripts/licences.mjs"];
  const list = join(GATEWAY, "THIRD_PARTY.md");
  const step = {
    name: "gateway licences",
    inputs: inputs.map((path) => join(ROOT, path)),
    outputs: [list],
    made,
  };
  await whenChanged(step, async () => writeFile(list, await listLicences(env)));
}

/** Writes the configuration that `init` copies. */
async function writeTemplate({ made }) {
  const config = join(WORKER, "wrangler.toml");
  const template = join(DIST, "template", "wrangler.toml");
  const step = { name: "gateway template", inputs: [config], outputs: [template], made };
  await whenChanged(step, async () => {
    await mkdir(dirname(template), { recursive: true });
    await writeFile(template, makeGatewayTemplate(await readFile(config, "utf8")));
  });
}

function compileRules(context) {
  const args = ["-p", RULES.crate, "--profile", "worker", ...targetFolder("gateway rules")];
  const env = withoutLocalPaths(context.env);
  const step = "compiling the gateway's rules";
  return cargoBuildWasm(step, RULES.crate, args, { ...context, env });
}
