import { noteGatewayDate } from "./clock_skew.ts";

/** The kind of problem that replaces the answer of a proxy. */
export const INTERCEPTED = "intercepted";

/** Not 401, because this page's own session may still be valid. No client repeats this status. */
const STATUS = 421;
const PROBLEM = {
  type: INTERCEPTED,
  title: "a proxy answered",
  status: STATUS,
  detail: "a sign-in page in front of the gateway answered",
};

/**
 * Sends a request to the gateway. A proxy in front of it, such as Cloudflare Access, answers with
 * its sign-in page or a redirect after its own session has ended. Returns a problem instead.
 */
export async function fetchGateway(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  if (!isSignInPage(response)) {
    // Each time, because this browser's clock may be corrected.
    noteGatewayDate(response.headers.get("date"));
    return response;
  }
  const headers = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify(PROBLEM), { status: STATUS, headers });
}

function isSignInPage({ type, status, ok, headers }: Response): boolean {
  if (type === "opaqueredirect") return true;
  const isHtml = headers.get("content-type")?.startsWith("text/html") ?? false;
  return isHtml && (ok || status === 401 || status === 403);
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
