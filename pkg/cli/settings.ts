/**
 * Reads the base URL, the project and the credential from flags, variables, settings files or the
 * default profile, in that order. If the user names a profile, only the flags and this profile are
 * read.
 */

import { dirname, join, resolve } from "node:path";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";
import type { Host } from "./host.js";
import {
  DEFAULT_PROFILE,
  findConfigFolder,
  findProfileFile,
  readProfile,
  readProfileName,
} from "./profile.js";
import { readAll } from "./standard_input.js";
import { findTextFile, readTextFile } from "./text_input.js";

/** A secret and its source. */
export interface Credential {
  kind: "token" | "adminKey";
  value: string;
  /** The name of the source, as shown to users. */
  source: string;
  /** The path of its file, if it was read from one. */
  file?: string;
}

/** The settings of a command. Each one can be missing. */
export interface Settings {
  baseUrl: string | undefined;
  projectId: string | undefined;
  credential: Credential | undefined;
}

interface SettingsFile {
  path: string;
  baseUrl?: string;
  projectId?: string;
  tokenFile?: string;
  adminKeyFile?: string;
}

interface Source {
  name: string;
  baseUrl?: string | undefined;
  projectId?: string | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
  adminKey?: string | undefined;
  adminKeyFile?: string | undefined;
  /** The path of the file that `token` was read from. */
  tokenPath?: string;
  /** The folder that relative paths are resolved against. */
  folder: string;
}

const PROPERTIES = ["baseUrl", "projectId", "tokenFile", "adminKeyFile"] as const;
/**
 * The properties allowed in the current folder's `quillgate.json`. It may belong to someone else's
 * repository, so it must not choose the gateway or the credential.
 */
const FOLDER_PROPERTIES = ["projectId"];
const SECRET_PROPERTIES = ["token", "adminKey"];
const MAX_SECRET = 16_384;

/**
 * Reads the settings.
 *
 * @param onRefusal called with the error if the credential is unusable, for example because one
 *   source has two; by default, the error is thrown
 * @throws {UsageError} if a settings file or the profile is unusable
 */
export async function readSettings(
  context: Context,
  onRefusal?: (error: UsageError) => void,
): Promise<Settings> {
  const { host } = context;
  const { env, folder } = host;
  const flags: Source = {
    name: "the flags",
    folder,
    baseUrl: readText(context, "base-url"),
    projectId: readText(context, "project"),
    tokenFile: readText(context, "token-file"),
    adminKeyFile: readText(context, "admin-key-file"),
  };
  const variables: Source = {
    name: "the environment",
    folder,
    baseUrl: env.QUILLGATE_BASE_URL || undefined,
    projectId: env.QUILLGATE_PROJECT_ID || undefined,
    token: env.QUILLGATE_TOKEN || undefined,
    tokenFile: env.QUILLGATE_TOKEN_FILE || undefined,
    adminKey: env.QUILLGATE_ADMIN_KEY || undefined,
    adminKeyFile: env.QUILLGATE_ADMIN_KEY_FILE || undefined,
  };
  const profile = readProfileName(context);
  const sources =
    profile === undefined
      ? await findSources(context, [flags, variables])
      : [flags, await readNamedProfile(context, profile)];
  const credential = await readCredential(sources, host).catch((error: unknown) => {
    if (onRefusal === undefined || !(error instanceof UsageError)) throw error;
    onRefusal(error);
    return undefined;
  });
  // For an admin key, only `--base-url` counts. Other sources name a gateway, which must not
  // receive the key.
  const addresses = credential?.kind === "adminKey" ? [flags] : sources;
  return {
    baseUrl: addresses.find(({ baseUrl }) => baseUrl !== undefined)?.baseUrl?.trim(),
    projectId: sources.find(({ projectId }) => projectId !== undefined)?.projectId?.trim(),
    credential,
  };
}

/**
 * Returns the sources for a command line without a profile: `given`, the settings files, and the
 * default profile. If another source has an address or a credential, the default profile is left
 * out. Otherwise its token could reach another gateway.
 */
async function findSources(context: Context, given: readonly Source[]): Promise<Source[]> {
  const { host } = context;
  const named = readText(context, "config") ?? (host.env.QUILLGATE_CONFIG || undefined);
  const files = named === undefined ? await findFiles(host) : [await readNamed(host, named)];
  const sources: Source[] = [
    ...given,
    ...files.map((file) => ({ ...file, name: file.path, folder: dirname(file.path) })),
  ];
  const isSet = sources.some(
    ({ baseUrl, token, tokenFile, adminKey, adminKeyFile }) =>
      (baseUrl ?? token ?? tokenFile ?? adminKey ?? adminKeyFile) !== undefined,
  );
  const hasHome = findConfigFolder(host) !== undefined;
  const stored = isSet || !hasHome ? undefined : await readProfileSource(host, DEFAULT_PROFILE);
  return stored === undefined ? sources : [...sources, stored];
}

/**
 * @throws {UsageError} if the profile is missing or invalid, `--config` is set, or `--base-url`
 *   would redirect the token
 */
async function readNamedProfile(context: Context, name: string): Promise<Source> {
  if (readText(context, "config") !== undefined) {
    throw new UsageError("--config cannot be combined with a profile");
  }
  const stored = await readProfileSource(context.host, name);
  if (stored === undefined) {
    throw new UsageError(`there is no profile ${name}: run quillgate login --profile ${name}`);
  }
  const baseUrl = readText(context, "base-url");
  if (baseUrl !== undefined && baseUrl !== stored.baseUrl) {
    throw new UsageError("--base-url cannot be combined with a profile, which has its own");
  }
  return stored;
}

async function readProfileSource(host: Host, name: string): Promise<Source | undefined> {
  const profile = await readProfile(host, name);
  if (profile === undefined) return undefined;
  const path = findProfileFile(host, name);
  return { ...profile, name: `profile ${name}`, tokenPath: path, folder: dirname(path) };
}

/**
 * Reads the default settings files: `quillgate.json` in the current folder, then the user's file.
 *
 * @throws {UsageError} if a file is unusable, or `quillgate.json` has a property that it must not
 *   have
 */
async function findFiles(host: Host): Promise<SettingsFile[]> {
  const inFolder = await readSettingsFile(join(host.folder, "quillgate.json"));
  const others = Object.keys(inFolder ?? {}).filter(
    (name) => name !== "path" && !FOLDER_PROPERTIES.includes(name),
  );
  if (others.length > 0) {
    throw new UsageError(
      `quillgate.json must not set ${others.join(" and ")}: a file of the current folder could ` +
        "send your credential elsewhere. If you trust it, name it with --config or QUILLGATE_CONFIG",
    );
  }
  const config = findConfigFolder(host);
  const ofUser = config && (await readSettingsFile(join(config, "config.json")));
  return [inFolder, ofUser].filter((file) => typeof file === "object");
}

async function readNamed(host: Host, path: string): Promise<SettingsFile> {
  const file = await readSettingsFile(resolve(host.folder, path));
  if (file === undefined) throw new UsageError(`there is no settings file ${path}`);
  return file;
}

/**
 * Reads a settings file. Returns `undefined` if it does not exist.
 *
 * @throws {UsageError} if the file is unreadable or invalid
 */
async function readSettingsFile(path: string): Promise<SettingsFile | undefined> {
  const text = await findTextFile(path);
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new UsageError(`${path} is not JSON`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new UsageError(`${path} must be a JSON object`);
  }
  for (const [name, value] of Object.entries(parsed)) {
    if (SECRET_PROPERTIES.includes(name)) {
      throw new UsageError(
        `${path} contains ${name}: move it to another file, and name that file as ${name}File`,
      );
    }
    if (!PROPERTIES.some((known) => known === name)) {
      throw new UsageError(`${path}: there is no setting ${name.slice(0, 32)}`);
    }
    if (typeof value !== "string" || value === "") {
      throw new UsageError(`${path}: ${name} must be a non-empty string`);
    }
  }
  return { ...parsed, path };
}

/** Returns the credential of the first source that has one. */
async function readCredential(
  sources: readonly Source[],
  host: Host,
): Promise<Credential | undefined> {
  for (const source of sources) {
    const { name, token, tokenFile, adminKey, adminKeyFile, folder, tokenPath } = source;
    const hasToken = token !== undefined || tokenFile !== undefined;
    const hasAdminKey = adminKey !== undefined || adminKeyFile !== undefined;
    if (hasToken && hasAdminKey) {
      throw new UsageError(`${name} has both an access token and an admin key: remove one`);
    }
    const kind = hasToken ? "token" : "adminKey";
    const value = token ?? adminKey;
    const file = tokenFile ?? adminKeyFile;
    if (value !== undefined && tokenPath !== undefined) {
      return { kind, value: checkSecret(value, name, kind), source: name, file: tokenPath };
    }
    if (value !== undefined) {
      const variable = hasToken ? "QUILLGATE_TOKEN" : "QUILLGATE_ADMIN_KEY";
      return { kind, value: checkSecret(value, variable, kind), source: variable };
    }
    if (file !== undefined) return readSecretFile(kind, file, folder, host);
  }
  return undefined;
}

async function readSecretFile(
  kind: Credential["kind"],
  file: string,
  folder: string,
  host: Host,
): Promise<Credential> {
  if (file === "-") {
    const value = checkSecret(await readAll(host, "a credential"), "standard input", kind);
    return { kind, value, source: "standard input" };
  }
  const path = resolve(folder, file);
  const text = await readTextFile(path, `the credential file ${file}`);
  return { kind, value: checkSecret(text, file, kind), source: path, file: path };
}

/** Common mistakes in a credential, each with its description. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/[\r\n]/, "more than one line"],
  [/["'`]/, "a quotation mark: remove the quotes"],
  [/[^\0-\x7f]/, "a character that is not ASCII, such as … or a curly quote"],
  [/[^!-~]/, "a space or a control character in it"],
];

/**
 * Returns the trimmed credential.
 *
 * @throws {UsageError} if the credential is invalid; the message never quotes it
 */
export function checkSecret(text: string, source: string, kind: Credential["kind"]): string {
  const secret = text.trim();
  if (secret === "") throw new UsageError(`${source} is empty: it must contain a credential`);
  const broken = RULES.find(([pattern]) => pattern.test(secret))?.[1];
  if (broken !== undefined) throw new UsageError(`${source} is not a credential: it has ${broken}`);
  if (secret.length > MAX_SECRET) {
    throw new UsageError(
      `${source} is not a credential: it has more than ${MAX_SECRET} characters`,
    );
  }
  if (kind === "token" && secret.startsWith("mint_")) {
    throw new UsageError(
      `${source} is Mintlify's admin key, which a gateway must not receive: ask the gateway's ` +
        "operator for an access token (quillgate token mint)",
    );
  }
  return secret;
}
