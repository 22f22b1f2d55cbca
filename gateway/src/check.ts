/** Checks a wrangler configuration with the gateway's own rules, before you deploy it. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import { checkVariables, initSync } from "./check_config.js";
import { findGaps, type WranglerConfig } from "./requirements.js";
import { findSecrets } from "./secrets.js";

/** The configuration that this version's tests use. `init` copies it. */
const TEMPLATE = fileURLToPath(new URL("../template/wrangler.toml", import.meta.url));
/** The configuration files that wrangler finds in a folder or its parents. */
const CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
/** The gateway's rules for its variables, compiled from the gateway's source. */
const RULES = new URL("./check_config_bg.wasm", import.meta.url);

/** Options of {@link checkConfig}. */
export interface CheckOptions {
  /**
   * The path of the wrangler configuration.
   *
   * @default the nearest one in the current folder or its parents
   */
  configFile?: string | undefined;
  /**
   * The environment to check, as in `wrangler deploy --env`. Empty for the top level of the
   * configuration.
   *
   * @default the variable `CLOUDFLARE_ENV`, or else the top level
   */
  env?: string | undefined;
  /**
   * The path of a file with secrets, either as `NAME=value` lines or as JSON for
   * `wrangler secret bulk`. Without it, secrets are not checked.
   */
  secretsFile?: string | undefined;
}

/** A mistake that would break the gateway, have no effect or expose a secret. */
export interface Problem {
  /** The name of the variable, or of another configuration key such as `migrations`. */
  name: string;
  /** Completes a sentence that starts with the name. Never contains the variable's value. */
  message: string;
}

/** The result of a check. */
export interface CheckReport {
  /** Empty if you can deploy the configuration. */
  problems: Problem[];
  /** The number of variables and secrets read. */
  count: number;
  /** Required secrets that neither file contains. They may be set at Cloudflare. */
  unchecked: string[];
}

/** Thrown if wrangler, a file or the environment is missing, or a file cannot be read. */
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
 * Requires wrangler, which reads the configuration. Uses the one installed in the configuration's
 * folder, or else the one of this package.
 *
 * @example
 * const { problems } = await checkConfig({ configFile: "wrangler.toml" });
 * for (const { name, message } of problems) console.error(`${name} ${message}`);
 *
 * @throws CheckError if wrangler is not installed, a file cannot be read or the environment does
 *   not exist
 */
export async function checkConfig(options: CheckOptions = {}): Promise<CheckReport> {
  const { configFile, secretsFile } = options;
  const env = (options.env ?? process.env.CLOUDFLARE_ENV) || undefined;
  // Check this first: in the wrong folder, an error about missing wrangler would mislead.
  requireConfig(configFile);
  const wrangler = await loadWrangler(configFile);
  // Show wrangler's warnings once, for the environment to deploy.
  const top = readConfig(wrangler, configFile, undefined, env !== undefined);
  if (top.configPath === undefined) throw new CheckError("there is no wrangler.toml here");
  const file = basename(top.configPath);
  const environments = top.definedEnvironments ?? [];
  if (env !== undefined && !environments.includes(env)) {
    const there = environments.length > 0 ? `there are ${environments.join(", ")}` : "it has none";
    throw new CheckError(`${file} has no environment ${env}; ${there}`);
  }
  const config = env === undefined ? top : readConfig(wrangler, configFile, env);
  const secrets = secretsFile === undefined ? {} : readSecrets(secretsFile);
  const variables = { ...config.vars, ...secrets };
  const needed = wrangler.unstable_readConfig(
    { config: TEMPLATE, env: "" },
    { hideWarnings: true },
  );
  const { problems, unchecked } = checkValues(variables);
  const own = findSecrets(config.vars, file, env);
  const published = [...own];
  // The file is committed as a whole, so look for secrets in every part of it.
  for (const name of [undefined, ...environments]) {
    if (name === env) continue;
    published.push(...findSecrets(readConfig(wrangler, configFile, name, true).vars, file, name));
  }
  const others = problems.filter(({ name }) => !own.some((secret) => secret.name === name));
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
    // Without `env`, wrangler would use the variable `CLOUDFLARE_ENV`.
    env: env ?? "",
  };
  try {
    return wrangler.unstable_readConfig(args, { hideWarnings });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CheckError(`${config ?? "the configuration"} cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

/** Checks variables with the crate `quillgate-check-config`. */
function checkValues(variables: object): { problems: Problem[]; unchecked: string[] } {
  initSync({ module: readFileSync(RULES) });
  return JSON.parse(checkVariables(JSON.stringify(variables)));
}

/**
 * Loads the wrangler of the configuration's folder. Falls back to the one installed for this
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
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const reason = error instanceof TypeError ? "is not UTF-8" : "cannot be read";
    throw new CheckError(`${file} ${reason}`, { cause: error });
  }
  if (!text.trimStart().startsWith("{")) return parseEnv(text);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote a secret from the file.
    throw new CheckError(`${file} is not JSON`);
  }
}
