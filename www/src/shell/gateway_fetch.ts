import { noteGatewayDate } from "./clock_skew.ts";

/** The answers of proxies in front of the gateway, by the kind of the problem that replaces them. */
const PROXY_ANSWERS = {
  intercepted: "a sign-in page in front of the gateway answered",
  challenged: "a firewall in front of the gateway wants to check this browser",
  firewall: "a firewall in front of the gateway refused this request",
} as const;

/**
 * The status of these problems. Not 401 or 403, because this page's own session may still be valid.
 * No client repeats this status.
 */
export const PROXY_STATUS = 421;

/**
 * Sends a request to the gateway. A proxy in front of it, such as Cloudflare Access, answers with
 * its sign-in page or a redirect after its own session has ended: see {@link readAnswer}.
 */
export async function fetchGateway(url: string, init: RequestInit): Promise<Response> {
  return readAnswer(await fetch(url, { ...init, redirect: "manual" }), Date.now());
}

/**
 * Returns the gateway's answer, or a problem instead of the answer of a proxy.
 *
 * @param at when the response arrived, in milliseconds since the epoch
 */
export function readAnswer(response: Response, at: number): Response {
  const kind = proxyAnswer(response);
  if (kind === null) {
    // Each time, because this browser's clock may be corrected.
    noteGatewayDate(response.headers, at);
    return response;
  }
  const problem = { type: kind, status: PROXY_STATUS, detail: PROXY_ANSWERS[kind] };
  const headers = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify(problem), { status: PROXY_STATUS, headers });
}

function proxyAnswer({ type, status, ok, headers }: Response): keyof typeof PROXY_ANSWERS | null {
  if (type === "opaqueredirect") return "intercepted";
  if (!headers.get("content-type")?.startsWith("text/html")) return null;
  if (status === 403) return headers.has("cf-mitigated") ? "challenged" : "firewall";
  return ok || status === 401 ? "intercepted" : null;
}

/** Returns whether the gateway answers a request that content blockers do not know. */
export async function isGatewayReachable(): Promise<boolean> {
  try {
    const options = { method: "HEAD", cache: "no-store", redirect: "manual" } as const;
    return (await fetch("/healthz", options)).ok;
  } catch {
    return false;
  }
}
