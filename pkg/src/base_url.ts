/** Checks `baseUrl` before the core is loaded. The core applies the same rules. */

import { toValidationError } from "./errors.js";
import { RULE_BASE_URL, RULE_SECURE_BASE_URL } from "./generated/protocol.js";
import type { ResolvedOptions } from "./options.js";

/** Host and path may contain visible ASCII characters except `"`, `#`, `<`, `>`, `?`, `@`, `\`. */
const HTTP_URL = /^https?:\/\/(?![/:])[!$-;=A-[\]-~]+$/;
const HTTP_TO_OTHER_MACHINE = /^http:\/\/(?!(localhost|127\.0\.0\.1|\[::1\])(:\d*)?(\/|$))/;

/**
 * Checks `baseUrl` as `BaseUrl` in the core does. Also rejects URLs that the runtime cannot parse.
 *
 * @throws {import("./errors.js").ValidationError}
 */
export function checkBaseUrl({ baseUrl, adminKey }: ResolvedOptions): void {
  if (typeof baseUrl !== "string") return; // The core reports other types.
  if (!HTTP_URL.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw toValidationError(RULE_BASE_URL, "baseUrl\n\n");
  }
  if (adminKey !== undefined && HTTP_TO_OTHER_MACHINE.test(baseUrl)) {
    throw toValidationError(RULE_SECURE_BASE_URL, "baseUrl\n\n");
  }
}
