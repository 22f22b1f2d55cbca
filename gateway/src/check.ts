/** Checks a wrangler configuration before deployment, using the gateway's own rules. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import { checkVariables, initSync } from "./check_config.js";
import { findGaps, type WranglerConfig } from "./requirements.js";
import { findSecrets } from "./secrets.js";

/** The configuration that this version is tested with, and that `init` starts from. */
const TEMPLATE = fileURLToPath(new URL("../template/wrangler.toml", import.meta.url));
/** The files that wrangler looks for in a folder and its parents. */
const CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
/** The gateway's rules for its variables, compiled from the gateway's source. */
const RULES = new URL("./check_config_bg.wasm", import.meta.url);

/** Options of {@link checkConfig}. */
export interface CheckOptions {
  /**
   * The path of the wrangler configuration.
   *
   * @default the file that wrangler finds, from the current folder upwards
   */
  configFile?: string | undefined;
  /**
   * The environment of the configuration, as in `wrangler deploy --env`.
   *
   * @default the top level
   */
  env?: string | undefined;
  /**
   * The path of a file of secrets: `NAME=value` lines, or the JSON that `wrangler secret bulk`
   * accepts.
   *
   * @default none: secrets that only Cloudflare stores are not checked
   */
  secretsFile?: string | undefined;
}

/** A problem that would break the gateway. */
export interface Problem {
  /** The name of the variable, or of the part of the configuration. */
  name: string;
  /** The rest of a sentence that starts with the name; never contains a value. */
  message: string;
}

/** The result of a check. */
export interface CheckReport {
  /** All problems; empty if the configuration can be deployed. */
  problems: Problem[];
  /** The number of variables and secrets read. */
  count: number;
  /** The required secrets that no file contains. */
  unchecked: string[];
}

/** The configuration or the secrets could not be read. */
export class CheckError extends Error {
  override name = "CheckError";
}

/** The part of wrangler's API that this module uses. */
interface Wrangler {
  unstable_readConfig(
    args: { config?: string; env?: string },
    options?: { hideWarnings?: boolean },
  ): WranglerConfig;
}

/**
 * Checks a wrangler configuration, and optionally a file of secrets, against this version of the
 * gateway.
 *
 * wrangler itself reads the configuration, so it must be installed where the configuration is.
 *
 * @example
 * const { problems } = await checkConfig({ configFile: "wrangler.toml" });
 * for (const { name, message } of problems) console.error(`${name} ${message}`);
 *
 * @throws CheckError if wrangler is not installed, a file cannot be read or the environment does
 *   not exist
 */
export async function checkConfig(options: CheckOptions = {}): Promise<CheckReport> {
  const { configFile, env, secretsFile } = options;
  // Check this before loading wrangler: in a wrong folder, wrangler is missing too.
  requireConfig(configFile);
  const wrangler = await loadWrangler(configFile);
  // Show wrangler's warnings only for the environment that would be deployed.
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
  // A check of the top level also finds secrets in the environments, which are in the same file.
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
    // wrangler's errors have no name that identifies them.
    const reason = error instanceof Error ? error.message : String(error);
    throw new CheckError(`${config ?? "the configuration"} cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

/** Applies the rules of the crate `quillgate-check-config` to variables. */
function applyRules(variables: object): { problems: Problem[]; unchecked: string[] } {
  initSync({ module: readFileSync(RULES) });
  return JSON.parse(checkVariables(JSON.stringify(variables)));
}

/**
 * Loads the wrangler that would deploy the configuration, or else the one installed for this
 * package.
 *
 * @throws CheckError if neither is installed
 */
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
    // The parser's message is not used, because it quotes part of the file.
    throw new CheckError(`${file} is not JSON`);
  }
}
