/**
 * `npm run check-config -- [--config <file>] [--env <name>] [--secrets <file>]`: checks variables
 * and secrets with the Worker's own rules. Variables come from the wrangler configuration. Secrets
 * come from a file in one of the formats of `wrangler secret bulk`: `NAME=value` lines or JSON.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { findSecrets } from "../gateway/src/secrets.js";
import { buildGenerator } from "./build.mjs";
import { runMain, StepError } from "./child.mjs";
import { setup } from "./setup.mjs";
import { ROOT } from "./versions.mjs";

const CONFIG = join(ROOT, "worker", "wrangler.toml");
const OPTIONS = {
  config: { type: "string", default: CONFIG },
  env: { type: "string" },
  secrets: { type: "string" },
};

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  const secrets = options.secrets === undefined ? {} : readSecrets(options.secrets);
  const context = await setup();
  const vars = await readVariables(options);
  const variables = { ...vars, ...secrets };
  const published = findSecrets(vars, basename(options.config), options.env);
  const { problems: others, unchecked } = await check(await buildGenerator(context), variables);
  const problems = [...published, ...others];
  if (problems.length > 0) {
    const lines = problems.map(({ name, message }) => `${name} ${message}`);
    throw new StepError(`check-config: ${lines.join("\n              ")}`);
  }
  const note =
    unchecked.length > 0
      ? ` (not checked, because they have no value: ${unchecked.join(", ")})`
      : "";
  const count = Object.keys(variables).length;
  console.log(
    `check-config: ${count} ${count === 1 ? "variable is" : "variables are"} right${note}`,
  );
});

function readOptions(args) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch {
    // The error must not repeat an argument, which could be a misplaced secret.
    throw new StepError("check-config takes --config <file>, --env <name> and --secrets <file>");
  }
}

/** Reads the configuration's variables. Tables and numbers stay unchanged, and fail the check. */
async function readVariables({ config, env }) {
  // Imported here because setup installs it.
  const { unstable_readConfig: readConfig } = await import("wrangler");
  const { definedEnvironments: environments = [] } = readConfig({ config }, { hideWarnings: true });
  if (env !== undefined && !environments.includes(env)) {
    const known = environments.length > 0 ? environments.join(", ") : "none";
    throw new StepError(`unknown environment; ${basename(config)} defines ${known}`);
  }
  return readConfig({ config, env }, { hideWarnings: true }).vars;
}

function readSecrets(file) {
  const text = readFileSync(file, "utf8");
  if (!text.trimStart().startsWith("{")) return parseEnv(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new StepError(`${file} is not JSON`);
  }
}

/** Checks variables with the crate `quillgate-check-config`. */
async function check(program, variables) {
  const child = spawn(program, ["check-config"], { stdio: ["pipe", "pipe", "inherit"] });
  let report = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    report += text;
  });
  child.stdin.on("error", () => {}).end(JSON.stringify(variables));
  const [code] = await once(child, "close");
  if (code !== 0) throw new StepError("check-config: the variables could not be read");
  return JSON.parse(report);
}
