/**
 * Reads the base URL, the project and the credential from flags, variables or a file, in that
 * order.
 */

import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Context, type Host, readText, UsageError } from "./command.js";
import { readAll } from "./standard_input.js";

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

/** The content of a settings file. */
interface SettingsFile {
  path: string;
  baseUrl?: string;
  projectId?: string;
  tokenFile?: string;
  adminKeyFile?: string;
}

/** A source of settings. */
interface Source {
  name: string;
  baseUrl?: string | undefined;
  projectId?: string | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
  adminKey?: string | undefined;
  adminKeyFile?: string | undefined;
  /** The folder that relative paths are resolved against. */
  folder: string;
}

const MEMBERS = ["baseUrl", "projectId", "tokenFile", "adminKeyFile"] as const;
/**
 * The properties allowed in a `quillgate.json` that no flag or variable names. Someone else may
 * have written it.
 */
const MEMBERS_OF_A_FOLDER = ["projectId"];
const SECRET_MEMBERS = ["token", "adminKey"];
const MAX_SECRET = 16_384;

/**
 * Reads the settings.
 *
 * @param onRefusal called with the error if the credential is unusable; by default, the error is
 *   thrown
 * @throws {UsageError} if a settings file is unusable, or one source has two credentials
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
  const named = readText(context, "config") ?? (env.QUILLGATE_CONFIG || undefined);
  const files = named === undefined ? await findFiles(host) : [await readNamed(host, named)];
  const sources = [
    flags,
    variables,
    ...files.map((file) => ({ ...file, name: file.path, folder: dirname(file.path) })),
  ];
  const credential = await readCredential(sources, host).catch((error: unknown) => {
    if (onRefusal === undefined || !(error instanceof UsageError)) throw error;
    onRefusal(error);
    return undefined;
  });
  // Only a flag may redirect the admin key. Other sources name the gateway, which must never
  // receive it.
  const addresses = credential?.kind === "adminKey" ? [flags] : sources;
  return {
    baseUrl: addresses.find(({ baseUrl }) => baseUrl !== undefined)?.baseUrl,
    projectId: sources.find(({ projectId }) => projectId !== undefined)?.projectId,
    credential,
  };
}

/** Returns the path of the user's settings file. */
function findUserFile({ env, home }: Pick<Host, "env" | "home">): string {
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "quillgate", "config.json");
}

/**
 * Reads the default settings files: `quillgate.json` in the current folder, then the user's file.
 *
 * @throws {UsageError} if `quillgate.json` has properties that only a named file may have
 */
async function findFiles(host: Host): Promise<SettingsFile[]> {
  const inFolder = await readSettingsFile(join(host.folder, "quillgate.json"));
  const others = Object.keys(inFolder ?? {}).filter(
    (name) => name !== "path" && !MEMBERS_OF_A_FOLDER.includes(name),
  );
  if (others.length > 0) {
    throw new UsageError(
      `quillgate.json says ${others.join(" and ")}, which a file of the current folder may not: ` +
        "it could send your credential elsewhere. Name the file by --config or QUILLGATE_CONFIG if " +
        "you trust it",
    );
  }
  const ofUser = await readSettingsFile(findUserFile(host));
  return [inFolder, ofUser].filter((file) => file !== undefined);
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
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${path} cannot be read (${code})`);
  }
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
    if (SECRET_MEMBERS.includes(name)) {
      throw new UsageError(
        `${path} holds ${name}: put it in a file of its own, and name that as ${name}File`,
      );
    }
    if (!MEMBERS.some((known) => known === name)) {
      throw new UsageError(`${path}: there is no setting ${name.slice(0, 32)}`);
    }
    if (typeof value !== "string" || value === "") {
      throw new UsageError(`${path}: ${name} must be a text`);
    }
  }
  return { ...parsed, path };
}

/** Returns the credential of the first source that has one. */
async function readCredential(
  sources: readonly Source[],
  host: Host,
): Promise<Credential | undefined> {
  for (const { name, token, tokenFile, adminKey, adminKeyFile, folder } of sources) {
    const hasToken = token !== undefined || tokenFile !== undefined;
    const hasAdminKey = adminKey !== undefined || adminKeyFile !== undefined;
    if (hasToken && hasAdminKey) {
      throw new UsageError(`${name} has an access token and an admin key: there can be one only`);
    }
    const kind = hasToken ? "token" : "adminKey";
    const value = token ?? adminKey;
    const file = tokenFile ?? adminKeyFile;
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
  try {
    const value = checkSecret(await readFile(path, "utf8"), file, kind);
    return { kind, value, source: path, file: path };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`the credential's file ${file} cannot be read (${code})`);
  }
}

/** Patterns that no valid credential matches, with a description of each. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/[\r\n]/, "more than one line"],
  [/["'`]/, "a quotation mark: give it without quotes"],
  [/[^\0-\x7f]/, "a character that is not ASCII, such as … or a curly quote"],
  [/[^!-~]/, "a space or a control character in it"],
];

/**
 * Returns the trimmed credential.
 *
 * @throws {UsageError} if the credential is invalid; the message names the rule but quotes nothing
 */
function checkSecret(text: string, source: string, kind: Credential["kind"]): string {
  const secret = text.trim();
  if (secret === "") throw new UsageError(`${source} is empty, where a credential should be`);
  const broken = RULES.find(([pattern]) => pattern.test(secret))?.[1];
  if (broken !== undefined) throw new UsageError(`${source} holds no credential: it has ${broken}`);
  if (secret.length > MAX_SECRET) {
    throw new UsageError(
      `${source} holds no credential: it has more than ${MAX_SECRET} characters`,
    );
  }
  if (kind === "token" && secret.startsWith("mint_")) {
    throw new UsageError(
      `${source} holds the platform's admin key, which no gateway may get: ask whoever runs the ` +
        "gateway for an access token (they make one by quillgate token mint)",
    );
  }
  return secret;
}
