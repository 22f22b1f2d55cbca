/** `quillgate login`: verifies an access token and stores it in a profile. */

import { type Context, readText } from "./command.js";
import { connectWith } from "./connection.js";
import { UsageError } from "./errors.js";
import { DEFAULT_PROFILE, readProfile, readProfileName, writeProfile } from "./profile.js";
import { askSecret } from "./question.js";
import { checkSecret } from "./settings.js";
import { readAll } from "./standard_input.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, host } = context;
  const name = readProfileName(context) ?? DEFAULT_PROFILE;
  const { baseUrl, projectId } = await readTarget(context, name);
  const token = checkSecret(await readToken(context), "stdin", "token");
  await verifyToken(context, { baseUrl, projectId, token });
  const path = await writeProfile(host, name, { baseUrl, projectId, token });
  if (output.json) {
    await output.printJson({ profile: name, baseUrl, projectId, file: path });
    return;
  }
  output.note(toLine(`quillgate: profile ${name} is stored in ${path}`));
}

/**
 * Returns the gateway and the project to log in to. Flags take precedence over variables, and
 * variables over the stored profile.
 *
 * @throws {UsageError} if one is missing, or for `--token-file`, `--admin-key-file` or `--config`
 */
async function readTarget(
  context: Context,
  name: string,
): Promise<{ baseUrl: string; projectId: string }> {
  for (const flag of ["token-file", "admin-key-file", "config"]) {
    if (readText(context, flag) !== undefined) {
      throw new UsageError(`login has no use for --${flag}: it reads the token from stdin`);
    }
  }
  const { host } = context;
  // Ignore an unreadable profile, because `login` overwrites it.
  const stored = await readProfile(host, name).catch(() => undefined);
  const baseUrl = readText(context, "base-url") ?? (host.env.QUILLGATE_BASE_URL || stored?.baseUrl);
  const projectId =
    readText(context, "project") ?? (host.env.QUILLGATE_PROJECT_ID || stored?.projectId);
  if (baseUrl === undefined) throw new UsageError("--base-url is missing: the gateway's address");
  if (projectId === undefined) throw new UsageError("--project is missing: the project's id");
  return { baseUrl, projectId };
}

async function readToken(context: Context): Promise<string> {
  const { host } = context;
  if (host.stdin.isTTY === true) return askSecret(context, "Access token (not shown):");
  return readAll(host, "the token");
}

/**
 * Checks that the gateway accepts a token.
 *
 * The problem `insufficient-scope` is enough: the gateway has verified the token, which only lacks
 * `jobs:read`.
 */
async function verifyToken(
  context: Context,
  { baseUrl, projectId, token }: { baseUrl: string; projectId: string; token: string },
): Promise<void> {
  const credential = { kind: "token" as const, value: token, source: "stdin" };
  const { client } = await connectWith(context, { baseUrl, projectId, credential }, {});
  try {
    await client.agentJobs.list({ limit: 1 }, { signal: context.signal });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== "/problems/insufficient-scope") throw error;
  }
}
