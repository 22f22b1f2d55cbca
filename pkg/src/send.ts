/** Calls `fetch`, and tells its own failures from those of the connection. */

import { RequestError } from "./errors.js";
import type { FetchInit, ResolvedOptions } from "./options.js";

/**
 * Calls the client's `fetch`.
 *
 * @throws {RequestError} if `fetch` itself fails
 * @throws the error of `fetch` if the connection fails
 */
export async function callFetch(
  { fetch = globalThis.fetch as unknown as NonNullable<ResolvedOptions["fetch"]> }: ResolvedOptions,
  url: string,
  init: FetchInit,
): Promise<Response> {
  let sent: ReturnType<typeof fetch>;
  try {
    sent = fetch(url, init);
  } catch (cause) {
    throw toRequestError(cause);
  }
  const response = (await Promise.resolve(sent).catch((cause: unknown) => {
    throw findRefusal(cause) === undefined ? cause : toRequestError(cause);
  })) as Response;
  if (typeof response?.status !== "number" || typeof response.headers?.get !== "function") {
    throw new RequestError("the custom fetch did not return a Response");
  }
  if (response.bodyUsed) {
    throw new RequestError("the custom fetch has read the body: read that of response.clone()");
  }
  return response;
}

/** The mode in which no `fetch`, such as that of Next.js 14, answers from a cache. */
export function cacheMode(): Pick<FetchInit, "cache"> {
  // workerd refuses the option before the compatibility date 2024-11-11. Polyfills without it may add
  // a query parameter.
  const isKnown = typeof Request === "function" && "cache" in Request.prototype;
  return isKnown ? { cache: "no-store" } : {};
}

/** Codes of errors about arguments, of Node.js and undici. */
const INVALID =
  /^(ERR_INVALID_(ARG|CHAR|HTTP_TOKEN|PROTOCOL|URL)|ERR_UNESCAPED|UND_ERR_(INVALID_ARG|NOT_SUPPORTED))/;
const BUGS = ["ReferenceError", "RangeError", "SyntaxError"];
/** The beginnings of messages about arguments and of bugs, in all engines. */
const BUG =
  /^(Failed to (construct|execute|parse|read)|Headers\b|Invalid (URL|header|name|value)|Only absolute|Cannot |Request(Init| constructor)|Window\.fetch:|(undefined|null) is )|\bis not (a|an|iterable|defined|valid)\b/;

/**
 * Returns the code or the name of an error of `fetch` about its arguments, or of a bug of a custom
 * `fetch`; `undefined` for other errors.
 */
function findRefusal(error: unknown): string | undefined {
  const { name, message, cause, code } = (error ?? {}) as Error & { code?: unknown };
  for (const each of [code, (cause as { code?: unknown } | null | undefined)?.code]) {
    if (INVALID.test(String(each))) return String(each);
  }
  const isBug = BUGS.includes(name) || (name === "TypeError" && !code && BUG.test(message));
  return isBug ? name : undefined;
}

function toRequestError(cause: unknown): RequestError {
  const what = findRefusal(cause) ?? (cause as Error | null)?.name ?? typeof cause;
  const isForeign = what === "UND_ERR_INVALID_ARG";
  const advice = isForeign ? "; a dispatcher of npm's undici needs the fetch of this undici" : "";
  const message = `fetch itself failed, not the connection: ${what}, see the cause${advice}`;
  return new RequestError(message, { cause });
}
