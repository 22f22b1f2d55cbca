/** A client, or a single request, with the settings of a command. */

import type { ClientOptions } from "../index.js";
import { type Context, UsageError } from "./command.js";
import { showWait } from "./duration.js";
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
  const { baseUrl, projectId, credential } = requireAll(settings);
  warnOfPlainHttp(context, baseUrl, credential);
  const { Client } = await import("../node.js");
  const { output, host } = context;
  const level = host.env.QUILLGATE_LOG ?? "off";
  const log = (message: string) => output.log(message);
  const client = new Client({
    projectId,
    ...(credential.kind === "token"
      ? { token: credential.value, baseUrl: baseUrl as string }
      : { adminKey: credential.value, baseUrl }),
    logger: { error: log, warn: log, info: log, debug: log },
    logLevel: level as NonNullable<ClientOptions["logLevel"]>,
    onRetry: ({ error, wait }) => {
      if (level === "off") output.note(`${error.message}: again in ${showWait(wait / 1000)}`);
    },
    ...watch,
  });
  return { client, baseUrl: baseUrl ?? null, projectId };
}

/** The settings of a command that only a gateway can carry out. */
export async function readGatewaySettings(context: Context): Promise<GatewaySettings> {
  const { baseUrl, projectId, credential } = requireAll(await readSettings(context));
  if (credential.kind === "adminKey") {
    throw new UsageError(
      `${context.command.name} needs a gateway: the platform itself does not have it. Give an access token`,
    );
  }
  warnOfPlainHttp(context, baseUrl, credential);
  return { baseUrl: baseUrl as string, projectId, credential };
}

/** The settings, once none of them is missing. With an admin key there need be no address. */
function requireAll({ baseUrl, projectId, credential }: Settings) {
  const missing = [
    ...(baseUrl === undefined && credential?.kind !== "adminKey"
      ? ["no gateway: set --base-url, QUILLGATE_BASE_URL or baseUrl in the user's settings file"]
      : []),
    ...(projectId === undefined
      ? ["no project: set --project, QUILLGATE_PROJECT_ID or projectId in a file"]
      : []),
    ...(credential === undefined
      ? [
          "no credential: set QUILLGATE_TOKEN, or name a file by --token-file or QUILLGATE_TOKEN_FILE",
        ]
      : []),
  ];
  if (projectId === undefined || credential === undefined || missing.length > 0) {
    throw new UsageError(missing.join("; "), ["to check every setting: quillgate doctor"]);
  }
  return { baseUrl, projectId, credential };
}

/** Says that a token goes unencrypted. An admin key does not: the client refuses that. */
function warnOfPlainHttp(
  { output }: Context,
  baseUrl: string | undefined,
  { kind }: Credential,
): void {
  if (kind !== "token" || baseUrl === undefined || isPrivate(baseUrl)) return;
  output.warn("the base URL is not https: the token goes unencrypted, and others can read it");
}

/** Whether nobody on the way can read what is sent to an address; so too of one that is none. */
export function isPrivate(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return true;
  return new URL(baseUrl).protocol !== "http:" || isLocal(baseUrl);
}

/** Whether an address is on this machine. */
export function isLocal(baseUrl: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
}
