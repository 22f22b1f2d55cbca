/** Logs the attempts of a call. Logs contain no credentials, prompts or query values. */

import { variable } from "./environment.js";
import { ValidationError } from "./errors.js";
import type { LogLevel, ResolvedOptions } from "./options.js";

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
  headers.forEach((value, name) => {
    copy.set(name, SHOWN.has(name) ? value : "[redacted]");
  });
  return copy;
}

interface AttemptLog {
  request(method: string, url: string): void;
  response(status: number, headers: Headers): void;
  retry(error: unknown, wait: number): void;
  /** Logs the error of a hook. */
  hookFailed(error: unknown): void;
}

/** Returns the log of a call; `undefined` if logging is off. */
export function attemptLog(options: ResolvedOptions): AttemptLog | undefined {
  let level = LEVELS.indexOf(options.logLevel ?? (variable("QUILLGATE_LOG") as LogLevel));
  // The variable is unset or unknown.
  if (level < 0) level = LEVELS.indexOf("warn");
  if (level === 0) return undefined;
  const logger = options.logger ?? console;
  const at = (least: LogLevel) => level >= LEVELS.indexOf(least);
  let sent = "";
  let started = 0;
  return {
    request(method, url) {
      sent = `${method} ${new URL(url).pathname}`;
      started = Date.now();
      if (at("debug")) logger.debug(`quillgate: ${sent}: sent`);
    },
    response(status, headers) {
      const id = headers.get("x-request-id");
      const line = `quillgate: ${sent}: ${status} after ${Date.now() - started} ms${id ? `, request ${id}` : ""}`;
      if (at("info")) logger.info(line);
    },
    hookFailed(error) {
      logger.error("quillgate: a hook failed", error);
    },
    retry(error, wait) {
      const why = error instanceof Error ? error.name : "error";
      if (at("warn")) logger.warn(`quillgate: ${sent}: ${why}, again in ${Math.round(wait)} ms`);
    },
  };
}
