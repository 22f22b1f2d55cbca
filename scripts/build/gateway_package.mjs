/** Builds the npm package `quillgate-gateway`: the deployed Worker, its page and its tools. */
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cargoBuildWasm, targetFolder } from "../cargo.mjs";
import { run } from "../child.mjs";
import { whenChanged } from "../freshness.mjs";
import { adaptLinks, listGatewayDocs } from "../gateway_docs.mjs";
import { makeGatewayTemplate } from "../gateway_template.mjs";
import { listLicences } from "../licences.mjs";
import { ROOT } from "../versions.mjs";
import { keepOnly } from "./folders.mjs";
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

/** Prepares `gateway/` for `npm pack`. The Worker and the page must have been built. */
export async function buildGateway(context) {
  const { bin, env, made } = context;
  await mkdir(TOOLS, { recursive: true });
  await keepOnly(DIST, [basename(TOOLS)]);
  for (const [to, from] of Object.entries(COPIES)) {
    await cp(join(ROOT, from), join(GATEWAY, to), { recursive: true });
  }
  for (const path of WORKER_MODULES) await copyFile(path, join(DIST, basename(path)));
  await rm(join(GATEWAY, "docs"), { recursive: true, force: true });
  const docs = listGatewayDocs();
  for (const path of docs) {
    const text = await readFile(join(ROOT, path), "utf8");
    await mkdir(dirname(join(GATEWAY, path)), { recursive: true });
    await writeFile(join(GATEWAY, path), adaptLinks(text, path, docs));
  }
  await writeFile(join(GATEWAY, "THIRD_PARTY.md"), await listLicences(env));
  const template = join(DIST, "template");
  await mkdir(template);
  const config = await readFile(join(WORKER, "wrangler.toml"), "utf8");
  await writeFile(join(template, "wrangler.toml"), makeGatewayTemplate(config));

  const rules = await compileRules(context);
  const options = { name: "gateway rules", module: RULES.module, out: TOOLS, optimise: true };
  await bindForWeb(options, rules, context);
  const inputs = ["src", "tsconfig.json"].map((name) => join(GATEWAY, name));
  await whenChanged({ name: "gateway", inputs, outputs: [TOOLS], made }, async () => {
    await keepOnly(TOOLS, filesOf(RULES.module));
    await run("compiling the gateway's TypeScript", bin.tsc, ["-p", GATEWAY], context);
  });
}

function compileRules(context) {
  const args = ["-p", RULES.crate, "--profile", "worker", ...targetFolder("gateway rules")];
  const env = withoutLocalPaths(context.env);
  const step = "compiling the gateway's rules";
  return cargoBuildWasm(step, RULES.crate, args, { ...context, env });
}
