/** Creates clients from a command's settings. */

import type { ClientOptions, LogLevel } from "../index.js";
import type { Context } from "./command.js";
import { showWait } from "./duration.js";
import { UsageError } from "./errors.js";
import { findConfigFolder, NO_HOME } from "./profile.js";
import { type Credential, readSettings, type Settings } from "./settings.js";
import { allowsPlainHttp } from "./shared_options.js";
import { toLine } from "./table.js";

/** Client hooks that observe requests and responses. */
export type Watch = Pick<ClientOptions, "onRequest" | "onResponse">;

/**
 * Creates the client of a command.
 *
 * @throws {UsageError} if a setting is missing or invalid
 */
export async function connect(context: Context, watch: Watch = {}) {
  return connectWith(context, requireAll(context, await readSettings(context)), watch);
}

/**
 * Creates the client of a command that needs a gateway.
 *
 * @throws {UsageError} if the credential is an admin key, or a setting is missing or invalid
 */
export async function connectToGateway(context: Context) {
  const settings = requireAll(context, await readSettings(context));
  if (settings.credential.kind === "adminKey") {
    throw new UsageError(
      `${context.command.name} needs a gateway: set an access token instead of an admin key`,
    );
  }
  return connectWith(context, settings, {});
}

/**
 * Creates a client.
 *
 * Imports the client on demand, because `--help` does not need it.
 */
export async function connectWith(
  context: Context,
  { baseUrl, projectId, credential }: CompleteSettings,
  watch: Watch,
) {
  const { Client } = await import("../node.js");
  const { output } = context;
  const logLevel = readLogLevel(context);
  const log = (message: string) => output.log(message);
  const client = new Client({
    projectId,
    allowPlainHttp: allowsPlainHttp(context.host),
    ...(credential.kind === "token"
      ? { auth: { token: credential.value }, baseUrl: baseUrl as string }
      : { auth: { adminKey: credential.value }, baseUrl }),
    logger: { error: log, warn: log, info: log, debug: log },
    logLevel,
    onRetry: ({ error, wait }) => {
      if (logLevel === "off")
        output.note(`quillgate: ${toLine(error.message)}; retry in ${showWait(wait / 1000)}`);
    },
    ...watch,
  });
  // With an admin key, the base URL is that of Mintlify or of a proxy in front of it.
  const gateway = (credential.kind === "token" && baseUrl) || null;
  return { client, baseUrl: baseUrl ?? null, gateway, projectId };
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
function requireAll(
  { host }: Context,
  { baseUrl, projectId, credential }: Settings,
): CompleteSettings {
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
    throw new UsageError(missing.join("; "), [
      ...(findConfigFolder(host) === undefined ? [NO_HOME] : []),
      "to check every setting: quillgate doctor",
    ]);
  }
  return { baseUrl, projectId, credential };
}
