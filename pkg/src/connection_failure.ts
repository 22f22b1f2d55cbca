/** Explains why a request has no usable response: one table for the package, the command line and the Action. */

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

type Row = readonly [RegExp, ConnectionFailureReason, words: string, advice?: string];

const ADDRESS = "check the address, the network and the proxy";
const TLS = "is the address http? does the server need a client certificate?";
const AUTHORITY =
  "if its authority is a company's, set NODE_EXTRA_CA_CERTS to a file with the authority's certificate";

/** The first row whose pattern matches an error's code, name and message applies. */
const FAILURES: readonly Row[] = [
  [/\b(ENOTFOUND|EAI_\w+|dns error)/, "dns", "cannot be resolved"],
  [/ECONNREFUSED|Connection ?[Rr]efused/, "refused", "refuses connections"],
  [/connect E(HOST|NET)|EADDRNOTAVAIL/, "unreachable", "cannot be reached from here"],
  [/_CONNECT_TIMEOUT|connect ETIMEDOUT/, "unreachable", "does not take connections"],
  [/before secure TLS/, "unreachable", "closed the connection before TLS"],
  [/bad port/, "port", "is at a port that fetch does not use", "use another port"],
  [/SSL_(WRONG|UNS|PACKET|HTTP)|_ALERT_(?!BAD)|EPROTO/, "tls", "refuses this TLS handshake", TLS],
  [/CERT_(HAS_EXPIRED|NOT_Y)/, "certificate", "has an expired certificate", "check the clock"],
  [/ALTNAME|HOSTNAME_MISM|NotValidForName/, "certificate", "has a certificate for another name"],
  [/CERT|UNABLE_TO_|UnknownIssuer/, "certificate", "has an untrusted certificate", AUTHORITY],
  [/HPE_|HTTPParserError/, "protocol", "does not answer with HTTP"],
];
/** Failures that a retry cannot change. */
const FINAL: readonly ConnectionFailureReason[] = ["port", "certificate", "tls"];

/** A proxy that does not connect to the server, with its status. */
const REFUSED_TUNNEL = /Proxy response \((\d+)\)|\bERR_PROXY_TUNNEL\b(?:.*?HTTP\/[\d.]+ (\d+))?/s;
/** The error messages of Chrome, Firefox and Safari for every failure of `fetch`. */
const OPAQUE = /^(Failed to fetch|NetworkError when attempting|Load failed)/;
const PROXY_LOGIN = "set its user and password in the proxy variable, percent-encoded";

/** The properties of an error. */
type Caused = Record<string, unknown>;

/**
 * Explains an error of `fetch`.
 *
 * @param server the server's address
 * @param page the origin of the page, in browsers
 */
export function explainConnection(
  error: unknown,
  server: URL,
  page: string | undefined = globalThis.location?.origin,
): ConnectionFailure {
  const chain = listCauses(error);
  const { host } = server;
  const code = findCode(error);
  const shown = code === undefined ? "" : ` (${code})`;
  for (const cause of chain) {
    const text = [cause.code, cause.name, cause.message].map(String).join(" ");
    const tunnel = REFUSED_TUNNEL.exec(text);
    if (tunnel !== null) return explainTunnel(Number(tunnel[1] ?? tunnel[2]), host);
    const row = FAILURES.find(([pattern]) => pattern.test(text));
    if (row === undefined) continue;
    const [, reason, words, advice = ADDRESS] = row;
    const proxy = findProxy(cause, server);
    return {
      reason: proxy === undefined ? reason : "proxy",
      summary: `${proxy ?? host} ${words}${shown}`,
      advice: proxy === undefined ? advice : "check the proxy variables, such as HTTPS_PROXY",
      sent: reason === "protocol" ? "maybe" : "no",
      canRetry: !FINAL.includes(reason),
    };
  }
  const isOpaque = chain.some(({ message }) => OPAQUE.test(String(message)));
  const isCrossOrigin = isOpaque && page !== undefined && page !== server.origin;
  return {
    reason: isCrossOrigin ? "cors" : "interrupted",
    summary: `no answer from ${host}: the connection failed or broke${shown}`,
    advice: isCrossOrigin ? `its ALLOWED_ORIGINS must contain ${page}` : "",
    sent: "maybe",
    canRetry: true,
  };
}

function explainTunnel(status: number, host: string): ConnectionFailure {
  const [words, advice] =
    status === 407
      ? ["requires credentials to connect", PROXY_LOGIN]
      : ["does not connect", "ask the proxy's operator, or exclude the host in NO_PROXY"];
  const summary = `the proxy ${words} to ${host} (${status || "no status"})`;
  return { reason: "proxy", summary, advice, sent: "no", canRetry: status >= 500 };
}

/** Returns the code of the innermost error that has one, such as `ECONNREFUSED`. */
export function findCode(error: unknown): string | undefined {
  const codes = listCauses(error).map(({ code }) => code);
  return codes.find((code) => typeof code === "string" && code !== "") as string | undefined;
}

/** Returns an error and its causes, the innermost first. */
function listCauses(error: unknown): Caused[] {
  const chain: Caused[] = [];
  let next = error as Caused | undefined | null;
  while (typeof next === "object" && next !== null && chain.length < 10) {
    chain.unshift(next);
    next = (next.cause ?? (next.errors as unknown[] | undefined)?.[0]) as typeof next;
  }
  return chain;
}

/** Returns the proxy that an error is about; `undefined` if it is about the server itself. */
function findProxy({ hostname, address, port, message }: Caused, server: URL): string | undefined {
  const attempted = /attempted address(?:es)?: ([^\s,]+)/.exec(String(message))?.[1];
  const expected = server.port || (server.protocol === "https:" ? "443" : "80");
  if (typeof hostname === "string" && hostname !== server.hostname) return `the proxy ${hostname}`;
  if (attempted !== undefined && !attempted.endsWith(`:${expected}`))
    return `the proxy ${attempted}`;
  if (port === undefined || String(port) === expected || address === undefined) return undefined;
  return `the proxy ${address}:${port}`;
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
  const isBlocked = headers.get("cf-mitigated") !== null || (status === 403 && ray !== null);
  if (!isBlocked || body !== undefined) return undefined;
  return {
    reason: "blocked",
    summary: `Cloudflare blocked the request before it reached the server (ray ${ray})`,
    advice: "ask the server's operator to allow this client",
  };
}
