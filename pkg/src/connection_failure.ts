/**
 * Explains why a connection failed, in runtimes whose errors tell: one table for the package, the
 * command line and the Action. Browsers do not tell, so their entry does not contain it.
 */

import {
  type Caused,
  type ConnectionFailure,
  type ConnectionFailureReason,
  explainOpaque,
  findCode,
  listCauses,
  PROXY_LOGIN,
} from "./opaque_failure.js";

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
  [/CERT_HAS_EXPIRED/, "certificate", "has an expired certificate", "check the clock"],
  [/CERT_NOT_Y/, "certificate", "has a certificate that is not valid yet", "check the clock"],
  [/ALTNAME|HOSTNAME_MISM|NotValidForName/, "certificate", "has a certificate for another name"],
  [/CERT|UNABLE_TO_|UnknownIssuer/, "certificate", "has an untrusted certificate", AUTHORITY],
  [/HPE_|HTTPParserError/, "protocol", "does not answer with HTTP"],
];
/** Failures that a retry cannot change. */
const FINAL: readonly ConnectionFailureReason[] = ["port", "certificate", "tls"];

/** A proxy that does not connect to the server, with its status. */
const REFUSED_TUNNEL = /Proxy response \((\d+)\)|\bERR_PROXY_TUNNEL\b(?:.*?HTTP\/[\d.]+ (\d+))?/s;

/** Explains an error of `fetch`. See {@link explainOpaque} for the parameters. */
export function explainConnection(error: unknown, server: URL, page?: string): ConnectionFailure {
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
  return explainOpaque(error, server, page);
}

function explainTunnel(status: number, host: string): ConnectionFailure {
  const [words, advice] =
    status === 407
      ? ["requires credentials to connect", PROXY_LOGIN]
      : ["does not connect", "ask the proxy's operator, or exclude the host in NO_PROXY"];
  const summary = `the proxy ${words} to ${host} (${status || "no status"})`;
  return { reason: "proxy", summary, advice, sent: "no", canRetry: status >= 500 };
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
