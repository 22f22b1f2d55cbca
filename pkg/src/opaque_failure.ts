/** Explains why a request has no usable response, as far as every runtime tells. */

/** The cause of a failed connection. `interrupted` is any other cause. */
export type ConnectionFailureReason =
  | "dns"
  | "refused"
  | "unreachable"
  | "proxy"
  | "certificate"
  | "tls"
  | "port"
  | "protocol"
  | "cors"
  | "interrupted";

/** A failed connection. */
export interface ConnectionFailure {
  reason: ConnectionFailureReason;
  /** The failure, such as `gate.example refuses connections (ECONNREFUSED)`. */
  summary: string;
  /** The next step; empty if there is no advice. */
  advice: string;
  /** Whether the request can have reached the server. */
  sent: "no" | "maybe";
  /** Whether a retry can succeed. */
  canRetry: boolean;
}

/** The error messages of Chrome, Firefox and Safari for every failure of `fetch`. */
const OPAQUE = /^(Failed to fetch|NetworkError when attempting|Load failed)/;
export const PROXY_LOGIN = "set its user and password in the proxy variable, percent-encoded";

/** The properties of an error. */
export type Caused = Record<string, unknown>;

/**
 * Explains an error of `fetch` without a known cause. Browsers hide the causes of all failures.
 *
 * @param server the server's address
 * @param page the origin of the page, in browsers
 */
export function explainOpaque(
  error: unknown,
  { host, origin }: URL,
  page: string | undefined = globalThis.location?.origin,
): ConnectionFailure {
  const code = findCode(error);
  const isOpaque = listCauses(error).some(({ message }) => OPAQUE.test(String(message)));
  const isCrossOrigin = isOpaque && page !== undefined && page !== origin;
  return {
    reason: isCrossOrigin ? "cors" : "interrupted",
    summary: `no answer from ${host}: the connection failed or broke${code ? ` (${code})` : ""}`,
    advice: isCrossOrigin ? `its ALLOWED_ORIGINS must contain ${page}` : "",
    sent: "maybe",
    canRetry: true,
  };
}

/** Returns the code of the innermost error that has one, such as `ECONNREFUSED`. */
export function findCode(error: unknown): string | undefined {
  const codes = listCauses(error).map(({ code }) => code);
  return codes.find((code) => typeof code === "string" && code !== "") as string | undefined;
}

/** Returns an error and its causes, the innermost first. */
export function listCauses(error: unknown): Caused[] {
  const chain: Caused[] = [];
  let next = error as Caused | undefined | null;
  while (typeof next === "object" && next !== null && chain.length < 10) {
    chain.unshift(next);
    next = (next.cause ?? (next.errors as unknown[] | undefined)?.[0]) as typeof next;
  }
  return chain;
}

/**
 * Explains a response that does not come from the server: of a proxy, or of Cloudflare in front of
 * it. Also names the target of a redirect, which the client does not follow.
 *
 * @param body the parsed body; `undefined` if it is not JSON
 */
export function explainResponse(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: unknown,
): { reason: "redirect" | "proxy" | "blocked"; summary: string; advice: string } | undefined {
  const location = headers.get("location");
  if (status >= 300 && status <= 399 && location) {
    const target = URL.canParse(location) ? new URL(location).origin : location.split(/[?#]/, 1)[0];
    return {
      reason: "redirect",
      summary: `a redirect to ${target}, which is not followed`,
      advice: "if you trust it, set it as the base URL",
    };
  }
  if (status === 407) {
    return { reason: "proxy", summary: "the proxy requires credentials", advice: PROXY_LOGIN };
  }
  const ray = headers.get("cf-ray");
  // A gateway's own 403 passes through Cloudflare, too.
  const isHtml = /^text\/html/i.test(headers.get("content-type") ?? "");
  const isBlocked = headers.get("cf-mitigated") || (status === 403 && ray && isHtml);
  if (!isBlocked || body !== undefined) return undefined;
  return {
    reason: "blocked",
    summary: `Cloudflare blocked the request before it reached the server (ray ${ray})`,
    advice: "ask the server's operator to allow this client",
  };
}
