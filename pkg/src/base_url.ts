/** Checks `baseUrl` before the core is loaded. The core applies the same rules. */

import { toValidationError } from "./errors.js";
import { LOOPBACK, RULE_BASE_URL, RULE_SECURE_BASE_URL } from "./generated/protocol.js";
import type { ResolvedOptions } from "./options.js";

/** Host and path may contain visible ASCII characters except `"`, `#`, `<`, `>`, `?`, `@`, `\`. */
const HTTP_URL = /^https?:\/\/(?![/:])[!$-;=A-[\]-~]+$/;

/**
 * Checks `baseUrl` as `BaseUrl` in the core does. Also rejects URLs that the runtime cannot parse.
 *
 * @throws {import("./errors.js").ValidationError}
 */
export function checkBaseUrl(options: ResolvedOptions): void {
  const { baseUrl, adminKey, token, allowPlainHttp } = options;
  if (typeof baseUrl !== "string") return; // The core reports other types.
  if (!HTTP_URL.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw toValidationError(RULE_BASE_URL, "baseUrl\n\n");
  }
  const hasCredential = adminKey !== undefined || token !== undefined;
  if (hasCredential) checkSecure(baseUrl, allowPlainHttp);
}

/**
 * Checks that a request with a credential may be sent to a valid URL.
 *
 * @throws {import("./errors.js").ValidationError}
 */
export function checkSecure(url: string, allowPlainHttp: boolean | undefined): void {
  if (allowPlainHttp === true || isPrivate(url)) return;
  throw toValidationError(RULE_SECURE_BASE_URL, "baseUrl\n\n");
}

/** Returns whether requests to a valid URL are encrypted or stay on this machine. */
export function isPrivate(baseUrl: string): boolean {
  return new URL(baseUrl).protocol !== "http:" || isLoopback(baseUrl);
}

/** Returns whether the host of a valid URL is this machine. */
export function isLoopback(baseUrl: string): boolean {
  return LOOPBACK.includes(new URL(baseUrl).hostname);
}
