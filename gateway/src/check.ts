/** Checks a wrangler configuration before it is deployed, with the rules of the gateway itself. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import { checkVariables, initSync } from "./check_config.js";
import { findGaps, type WranglerConfig } from "./requirements.js";
import { findSecrets } from "./secrets.js";

/** What `init` writes is made of it: the configuration with which this version is tested. */
const TEMPLATE = fileURLToPath(new URL("../template/wrangler.toml", import.meta.url));
/** What wrangler looks for, in a folder and those above it. */
const CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
/** The gateway's rules for its variables, compiled from the gateway's own source. */
const RULES = new URL("./check_config_bg.wasm", import.meta.url);

/** What {@link checkConfig} reads. */
export interface CheckOptions {
  /**
   * The wrangler configuration.
   *
   * @default the one that wrangler finds, from the current folder upwards
   */
  configFile?: string | undefined;
  /**
   * The environment of the configuration, as in `wrangler deploy --env`.
   *
   * @default the top level
   */
  env?: string | undefined;
  /**
   * A file of secrets, `NAME=value` lines or the JSON that `wrangler secret bulk` takes.
   *
   * @default none: secrets that Cloudflare alone holds are not checked
   */
  secretsFile?: string | undefined;
}

/** One thing with which the gateway would not work. */
export interface Problem {
  /** The variable, or the part of the configuration. */
  name: string;
  /** What is wrong, in words that follow the name; never a value. */
  message: string;
}

/** What a check has found. */
export interface CheckReport {
  /** All that is wrong; nothing when the configuration can be deployed. */
  problems: Problem[];
  /** How many variables and secrets were read. */
  count: number;
  /** The secrets that the gateway needs and that no file had. */
  unchecked: string[];
}

/** The configuration or the secrets could not be read. */
export class CheckError extends Error {
  override name = "CheckError";
}

/** The part of wrangler that is used. */
interface Wrangler {
  unstable_readConfig(
    args: { config?: string; env?: string },
    options?: { hideWarnings?: boolean },
  ): WranglerConfig;
}

/**
 * Reads the variables of a wrangler configuration, and a file of secrets, as the gateway would, and
 * compares the rest with what this version of the gateway needs.
 *
 * wrangler itself reads the configuration: it has to be installed where the configuration is.
 *
 * @example
 * const { problems } = await checkConfig({ configFile: "wrangler.toml" });
 * for (const { name, message } of problems) console.error(`${name} ${message}`);
 *
 * @throws CheckError when wrangler is not installed, a file cannot be read, or there is no such
 *   environment
 */
export async function checkConfig(options: CheckOptions = {}): Promise<CheckReport> {
  const { configFile, env, secretsFile } = options;
  // Before wrangler is looked for: in a wrong folder it is not installed either.
  requireConfig(configFile);
  const wrangler = await loadWrangler(configFile);
  // What wrangler warns of is the user's to see, of the one that would be deployed.
  const top = readConfig(wrangler, configFile, undefined, env !== undefined);
  if (top.configPath === undefined) throw new CheckError("there is no wrangler.toml here");
  const file = basename(top.configPath);
  const environments = top.definedEnvironments ?? [];
  if (env !== undefined && !environments.includes(env)) {
    const there = environments.length > 0 ? `there are ${environments.join(", ")}` : "it has none";
    throw new CheckError(`${file} has no such environment; ${there}`);
  }
  const config = env === undefined ? top : readConfig(wrangler, configFile, env);
  const secrets = secretsFile === undefined ? {} : readSecrets(secretsFile);
  const variables = { ...config.vars, ...secrets };
  const needed = wrangler.unstable_readConfig({ config: TEMPLATE }, { hideWarnings: true });
  const { problems, unchecked } = applyRules(variables);
  const published = findSecrets(config.vars, file, env);
  // Who checks the top level hears of the environments' secrets too: they are in the same file.
  for (const name of env === undefined ? environments : []) {
    published.push(...findSecrets(readConfig(wrangler, configFile, name, true).vars, file, name));
  }
  const others = problems.filter(({ name }) => !published.some((secret) => secret.name === name));
  return {
    problems: [...published, ...others, ...findGaps({ ...config, vars: variables }, needed)],
    count: Object.keys(variables).length,
    unchecked,
  };
}

function requireConfig(configFile: string | undefined): void {
  if (configFile !== undefined) {
    if (!existsSync(configFile)) throw new CheckError(`there is no ${configFile}`);
    return;
  }
  const start = process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (CONFIGS.some((name) => existsSync(join(folder, name)))) return;
    if (folder === dirname(folder)) break;
  }
  throw new CheckError(`there is no wrangler.toml in ${start}`);
}

function readConfig(
  wrangler: Wrangler,
  config?: string,
  env?: string,
  hideWarnings = false,
): WranglerConfig {
  const args = {
    ...(config === undefined ? {} : { config }),
    ...(env === undefined ? {} : { env }),
  };
  try {
    return wrangler.unstable_readConfig(args, { hideWarnings });
  } catch (error) {
    // wrangler's own refusals have no name that tells them apart.
    const reason = error instanceof Error ? error.message : String(error);
    throw new CheckError(`${config ?? "the configuration"} cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

/** What the crate `quillgate-check-config` says of variables. */
function applyRules(variables: object): { problems: Problem[]; unchecked: string[] } {
  initSync({ module: readFileSync(RULES) });
  return JSON.parse(checkVariables(JSON.stringify(variables)));
}

/** The wrangler that would deploy the configuration. */
async function loadWrangler(configFile: string | undefined): Promise<Wrangler> {
  const folder = configFile === undefined ? process.cwd() : dirname(resolve(configFile));
  const places = [resolve(folder, "package.json"), fileURLToPath(import.meta.url)];
  for (const place of places) {
    const path = findModule("wrangler", place);
    if (path !== undefined) return await import(pathToFileURL(path).href);
  }
  throw new CheckError(`wrangler is not installed in ${folder}: npm install --save-dev wrangler`);
}

function findModule(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

function readSecrets(file: string): NodeJS.Dict<unknown> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CheckError(`${file} cannot be read`, { cause: error });
  }
  if (!text.trimStart().startsWith("{")) return parseEnv(text);
  try {
    return JSON.parse(text);
  } catch {
    // Not the parser's own words, which repeat some of the text.
    throw new CheckError(`${file} is not JSON`);
  }
}
