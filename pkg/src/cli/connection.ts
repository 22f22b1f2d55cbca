/** A client, or a single request, with the settings of a command. */

import type { ClientOptions } from "../index.js";
import { type Context, UsageError } from "./command.js";
import { type Credential, readSettings, type Settings } from "./settings.js";

/** Settings that are enough to call a gateway. */
export interface GatewaySettings {
  baseUrl: string;
  projectId: string;
  credential: Credential;
}

/** The options of a client that may be watched. */
export type Watch = Pick<ClientOptions, "onRequest" | "onResponse">;

/** Makes the client of a command. The client's code is loaded now, and not for help. */
export async function connect(context: Context, watch: Watch = {}) {
  const settings = await readSettings(context);
  const { baseUrl, projectId, credential } = requireProject(settings);
  const { Client } = await import("../node.js");
  const { output, host } = context;
  const level = host.env.QUILLGATE_LOG ?? "off";
  const log = (message: string) => output.note(message);
  const client = new Client({
    projectId,
    ...(credential.kind === "token"
      ? { token: credential.value, baseUrl: requireBaseUrl(baseUrl) }
      : { adminKey: credential.value, baseUrl }),
    logger: { error: log, warn: log, info: log, debug: log },
    logLevel: level as NonNullable<ClientOptions["logLevel"]>,
    onRetry: ({ error, wait }) => {
      if (level === "off") output.note(`${error.message}: again in ${Math.ceil(wait / 1000)} s`);
    },
    ...watch,
  });
  return { client, baseUrl: baseUrl ?? null, projectId };
}

/** The settings of a command that only a gateway can carry out. */
export async function readGatewaySettings(context: Context): Promise<GatewaySettings> {
  const { baseUrl, projectId, credential } = requireProject(await readSettings(context));
  if (credential.kind === "adminKey") {
    throw new UsageError(
      `${context.command.name} needs a gateway: the platform itself does not have it. Give an access token`,
    );
  }
  return { baseUrl: requireBaseUrl(baseUrl), projectId, credential };
}

function requireProject(settings: Settings) {
  const { baseUrl, projectId, credential } = settings;
  if (projectId === undefined) {
    throw new UsageError("no project: set --project, QUILLGATE_PROJECT_ID or projectId in a file");
  }
  if (credential === undefined) {
    throw new UsageError(
      "no credential: set QUILLGATE_TOKEN, or name a file by --token-file or QUILLGATE_TOKEN_FILE",
    );
  }
  return { baseUrl, projectId, credential };
}

function requireBaseUrl(baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return baseUrl;
  throw new UsageError(
    "no gateway: set --base-url, QUILLGATE_BASE_URL or baseUrl in the user's settings file",
  );
}
