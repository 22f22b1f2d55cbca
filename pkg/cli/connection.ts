/** Creates clients from a command's settings. */

import type { ClientOptions, LogLevel } from "../index.js";
import type { Context } from "./command.js";
import { showWait } from "./duration.js";
import { UsageError } from "./errors.js";
import { type Credential, readSettings, type Settings } from "./settings.js";

/** Client hooks that observe requests and responses. */
export type Watch = Pick<ClientOptions, "onRequest" | "onResponse">;

/**
 * Creates the client of a command.
 *
 * @throws {UsageError} if a setting is missing or invalid
 */
export async function connect(context: Context, watch: Watch = {}) {
  return connectWith(context, requireAll(await readSettings(context)), watch);
}

/**
 * Creates the client of a command that needs a gateway.
 *
 * @throws {UsageError} if the credential is an admin key, or a setting is missing or invalid
 */
export async function connectToGateway(context: Context) {
  const settings = requireAll(await readSettings(context));
  if (settings.credential.kind === "adminKey") {
    throw new UsageError(
      `${context.command.name} needs a gateway: set an access token instead of an admin key`,
    );
  }
  return connectWith(context, settings, {});
}

/**
 * Creates a client. Warns if it would send the token unencrypted.
 *
 * Imports the client on demand, because `--help` does not need it.
 */
export async function connectWith(
  context: Context,
  { baseUrl, projectId, credential }: CompleteSettings,
  watch: Watch,
) {
  warnOfPlainHttp(context, baseUrl, credential);
  const { Client } = await import("../node.js");
  const { output } = context;
  const logLevel = readLogLevel(context);
  const log = (message: string) => output.log(message);
  const client = new Client({
    projectId,
    ...(credential.kind === "token"
      ? { auth: { token: credential.value }, baseUrl: baseUrl as string }
      : { auth: { adminKey: credential.value }, baseUrl }),
    logger: { error: log, warn: log, info: log, debug: log },
    logLevel,
    onRetry: ({ error, wait }) => {
      if (logLevel === "off")
        output.note(`quillgate: ${error.message}; retry in ${showWait(wait / 1000)}`);
    },
    ...watch,
  });
  return { client, baseUrl: baseUrl ?? null, projectId };
}

const LOG_LEVELS: readonly LogLevel[] = ["off", "error", "warn", "info", "debug"];

/** Returns the log level that `QUILLGATE_LOG` sets, by default `off`. Warns of an invalid level. */
function readLogLevel({ output, host }: Context): LogLevel {
  const given = host.env.QUILLGATE_LOG || "off";
  const level = LOG_LEVELS.find((each) => each === given);
  if (level === undefined) output.warn(`QUILLGATE_LOG must be one of ${LOG_LEVELS.join(", ")}`);
  return level ?? "off";
}

/** Settings with a project and a credential. */
type CompleteSettings = Settings & { projectId: string; credential: Credential };

/**
 * Checks that no setting is missing. With an admin key, the base URL is optional.
 *
 * @throws {UsageError} if a setting is missing
 */
function requireAll({ baseUrl, projectId, credential }: Settings): CompleteSettings {
  const missing = [
    ...(baseUrl === undefined && credential?.kind !== "adminKey"
      ? ["no gateway: run quillgate login, or set --base-url or QUILLGATE_BASE_URL"]
      : []),
    ...(projectId === undefined ? ["no project: set --project or QUILLGATE_PROJECT_ID"] : []),
    ...(credential === undefined
      ? ["no credential: run quillgate login, or set QUILLGATE_TOKEN or --token-file"]
      : []),
  ];
  if (projectId === undefined || credential === undefined || missing.length > 0) {
    throw new UsageError(missing.join("; "), ["to check every setting: quillgate doctor"]);
  }
  return { baseUrl, projectId, credential };
}

/** Warns if a token would be sent unencrypted. For an admin key, the client itself throws. */
function warnOfPlainHttp(
  { output }: Context,
  baseUrl: string | undefined,
  { kind }: Credential,
): void {
  if (kind !== "token" || baseUrl === undefined || isPrivate(baseUrl)) return;
  output.warn("the base URL is not https: others can read the token");
}

/**
 * Returns whether requests to a URL are encrypted or stay on this machine. Also returns `true` for
 * a malformed URL, to which no request is sent.
 */
export function isPrivate(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return true;
  return new URL(baseUrl).protocol !== "http:" || isLocal(baseUrl);
}

/** Returns whether the host of a valid URL is `localhost` or a loopback address. */
export function isLocal(baseUrl: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
}
