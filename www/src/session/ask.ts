/**
 * Requests to the gateway about sessions. This module does not process the responses;
 * `gateway_session.ts` does.
 */
import { fetchGateway } from "../shell/gateway_fetch.ts";

const TIMEOUT_MS = 20_000;

export function ask(method: string, path: string, body?: object): Promise<Response> {
  return fetchGateway(path, {
    method,
    ...(body && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    credentials: "same-origin",
    // The `Date` of a stored answer would set the page's clock back.
    cache: "no-store",
    // Signing out completes even if the person closes the tab.
    keepalive: method === "DELETE",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

export const SESSION = "/session";
let ahead: Promise<Response> | null = null;

/** Requests the session early, before the page needs it. */
export function askAhead(): void {
  ahead = ask("GET", SESSION);
  // The caller of `takeAnswerAhead` handles the failure.
  ahead.catch(() => {});
}

/**
 * Returns the early response to the first caller. Returns null to all others, or without an early
 * request.
 */
export function takeAnswerAhead(): Promise<Response> | null {
  const taken = ahead;
  ahead = null;
  return taken;
}
