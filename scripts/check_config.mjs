/**
 * `npm run check-config -- [--config <file>] [--env <name>] [--secrets <file>]`: reads the
 * variables of the wrangler configuration, and of a file of secrets, as the Worker itself would,
 * and says which ones are wrong. What is secret is checked when a file holds it, as `NAME=value`
 * lines or as JSON: the form that `wrangler secret bulk` takes.
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
    unchecked.length > 0 ? ` (not checked, for want of a value: ${unchecked.join(", ")})` : "";
  const count = Object.keys(variables).length;
  console.log(
    `check-config: ${count} ${count === 1 ? "variable is" : "variables are"} right${note}`,
  );
});

function readOptions(args) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch {
    // A value could be a misplaced secret: nothing of it is repeated.
    throw new StepError("check-config takes --config <file>, --env <name> and --secrets <file>");
  }
}

/** Those of the wrangler configuration; a table or a number stays what it is, and is refused. */
async function readVariables({ config, env }) {
  // Installed by the set-up.
  const { unstable_readConfig: readConfig } = await import("wrangler");
  const { definedEnvironments: environments = [] } = readConfig({ config }, { hideWarnings: true });
  if (env !== undefined && !environments.includes(env)) {
    const there = environments.length > 0 ? `there are ${environments.join(", ")}` : "it has none";
    throw new StepError(`${basename(config)} has no such environment; ${there}`);
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

/** What the crate `quillgate-check-config` says of them. */
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
