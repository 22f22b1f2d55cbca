/** Reads the variables of this program. */

import { UsageError } from "./errors.js";
import type { Host } from "./host.js";

/** The variables of this program. */
const OWN = /^(QUILLGATE_\w+|ACCESS_TOKEN_SECRET|WEBHOOK_SECRET)$/;
/** Variables with a secret. `checkSecret` describes what is wrong with them. */
const SECRETS = ["QUILLGATE_TOKEN", "QUILLGATE_ADMIN_KEY"];

/**
 * Returns the environment with this program's variables trimmed. In a file with CRLF, values end
 * with a carriage return.
 *
 * @throws {UsageError} if a value contains a control character
 */
export function trimVariables(
  env: Host["env"],
  platform: NodeJS.Platform = process.platform,
): Host["env"] {
  const ignoresCase = platform === "win32";
  const trimmed = Object.entries(env)
    .filter(([name]) => OWN.test(ignoresCase ? name.toUpperCase() : name))
    .map(([name, value = ""]) => [name, value.trim()] as const);
  const broken = trimmed.find(
    ([name, value]) => !SECRETS.includes(name.toUpperCase()) && /\p{Cc}/u.test(value),
  );
  if (broken !== undefined)
    throw new UsageError(`${broken[0]} must not contain control characters`);
  const all = { ...env, ...Object.fromEntries(trimmed) };
  return ignoresCase ? ignoreCase(all) : all;
}

/** Finds variables in upper and lower case, as `process.env` does on Windows. A copy of it does not. */
function ignoreCase(env: Host["env"]): Host["env"] {
  const names = new Map(Object.keys(env).map((name) => [name.toUpperCase(), name]));
  const find = (name: string) => names.get(name.toUpperCase()) ?? name;
  return new Proxy(env, { get: (target, name) => target[find(String(name))] });
}
