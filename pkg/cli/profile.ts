/** Reads and writes profiles: a gateway's address, a project and an access token. */

import { randomUUID } from "node:crypto";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";
import type { Host } from "./host.js";
import { findTextFile } from "./text_input.js";

export interface Profile {
  baseUrl: string;
  projectId: string;
  token: string;
}

/** The profile that commands use if no other setting names a gateway or a credential. */
export const DEFAULT_PROFILE = "default";
const NAME = /^[\w-]{1,64}$/;

/**
 * Returns the name that `--profile` or `QUILLGATE_PROFILE` sets, or `undefined` if neither is set.
 *
 * @throws {UsageError} if the name is invalid
 */
export function readProfileName(context: Pick<Context, "values" | "host">): string | undefined {
  const name = readText(context, "profile") ?? (context.host.env.QUILLGATE_PROFILE || undefined);
  if (name === undefined || NAME.test(name)) return name;
  throw new UsageError("--profile must have 1 to 64 letters, digits, dashes and underscores");
}

/**
 * Returns the folder of the user's settings, or `undefined` if the user has no home folder.
 *
 * Ignores relative paths, as the XDG Base Directory specification requires. In the current folder,
 * settings can be someone else's.
 */
export function findConfigFolder({ env, home }: Pick<Host, "env" | "home">): string | undefined {
  const appData = env.OS === "Windows_NT" ? env.APPDATA : undefined;
  const parents = [env.XDG_CONFIG_HOME, appData, home && join(home, ".config")];
  const parent = parents.find((path) => path !== undefined && isAbsolute(path));
  return parent === undefined ? undefined : join(parent, "quillgate");
}

/** @throws {UsageError} if the user has no home folder */
export function findProfileFile(host: Pick<Host, "env" | "home">, name: string): string {
  const folder = findConfigFolder(host);
  if (folder === undefined) throw new UsageError(NO_HOME);
  return join(folder, "profiles", `${name}.json`);
}

export const NO_HOME = "this user has no home folder: set HOME, so that settings can be stored";

/**
 * Reads a profile. Returns `undefined` if it does not exist.
 *
 * @throws {UsageError} if the file is unreadable or invalid; the message never quotes the file
 */
export async function readProfile(
  host: Pick<Host, "env" | "home">,
  name: string,
): Promise<Profile | undefined> {
  const path = findProfileFile(host, name);
  const text = await findTextFile(path);
  if (text === undefined) return undefined;
  const profile = parseProfile(text);
  if (profile === undefined) {
    throw new UsageError(`${path} is not a profile: run quillgate login --profile ${name} again`);
  }
  return profile;
}

function parseProfile(text: string): Profile | undefined {
  try {
    const { baseUrl, projectId, token } = JSON.parse(text);
    const isValid = [baseUrl, projectId, token].every(
      (value) => typeof value === "string" && value !== "",
    );
    return isValid ? { baseUrl, projectId, token } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores a profile atomically, in a file that only the user may read.
 *
 * @returns the file's path
 */
export async function writeProfile(
  host: Pick<Host, "env" | "home">,
  name: string,
  profile: Profile,
): Promise<string> {
  const path = findProfileFile(host, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target = await findTarget(path);
  const next = `${target}.${randomUUID()}`;
  try {
    await writeFile(next, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    await rename(next, target);
  } finally {
    await rm(next, { force: true });
  }
  return path;
}

/** Returns the file that holds a profile: people link profiles into a folder of settings. */
function findTarget(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Deletes a profile, and the file that it links to. Returns whether it existed. */
export async function deleteProfile(
  host: Pick<Host, "env" | "home">,
  name: string,
): Promise<boolean> {
  const path = findProfileFile(host, name);
  try {
    await rm(await findTarget(path));
    await rm(path, { force: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
