/** Logs the attempts of a call. Logs contain no credentials, prompts or query values. */

import { variable } from "./environment.js";
import { ValidationError } from "./errors.js";
import type { Logger, LogLevel, ResolvedOptions } from "./options.js";

const LEVELS: LogLevel[] = ["off", "error", "warn", "info", "debug"];

/** @throws {ValidationError} if the level is unknown */
export function checkLogLevel(level: LogLevel | undefined): void {
  if (level == null || LEVELS.includes(level)) return;
  throw new ValidationError(`logLevel must be one of ${LEVELS.join(", ")}`, "logLevel", "one-of");
}

/** Headers whose values appear in logs and hooks. All other values are redacted. */
const SHOWN = new Set([
  "accept",
  "age",
  "allow",
  "cache-control",
  "cache-status",
  "content-length",
  "content-type",
  "date",
  "etag",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "server-timing",
  "x-request-id",
]);

/** Returns a copy of `headers`. Values of headers that are not in {@link SHOWN} are redacted. */
export function redactHeaders(headers: Headers): Headers {
  const copy = new Headers();
  // The headers of a custom `fetch` may have only `get`.
  headers.forEach?.((value, name) => {
    copy.set(name, SHOWN.has(name) ? value : "[redacted]");
  });
  return copy;
}

/** Logs a message if its level is enabled. */
type Log = (level: keyof Logger, ...message: [string, ...unknown[]]) => void;

/** Returns the log of a client; `undefined` if logging is off. */
export function openLog({ logLevel, logger }: ResolvedOptions): Log | undefined {
  let enabled = LEVELS.indexOf(logLevel ?? (variable("QUILLGATE_LOG") as LogLevel));
  // The variable is unset or unknown.
  if (enabled < 0) enabled = LEVELS.indexOf("warn");
  if (enabled === 0) return undefined;
  return (level, ...message) => {
    if (LEVELS.indexOf(level) <= enabled) (logger ?? console)[level](...message);
  };
}
