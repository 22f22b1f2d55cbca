/**
 * The early request for the session. The page's first file contains this module, so it imports
 * nothing. `gateway_session.ts` reads the answer.
 */

const TIMEOUT_MS = 20_000;

export const SESSION = "/session";

export function requestOptions(method: string, body?: object): RequestInit {
  return {
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
  };
}

interface Answer {
  response: Response;
  /** When it arrived, in milliseconds since the epoch. */
  at: number;
}

let ahead: Promise<Answer> | null = null;

/** Requests the session early, before the page needs it. */
export function askAhead(): void {
  ahead = fetch(SESSION, { ...requestOptions("GET"), redirect: "manual" }).then((response) => ({
    response,
    at: Date.now(),
  }));
  // The caller of `takeAnswerAhead` handles the failure.
  ahead.catch(() => {});
}

/**
 * Returns the early answer to the first caller. Returns null to all others, or without an early
 * request.
 */
export function takeAnswerAhead(): Promise<Answer> | null {
  const taken = ahead;
  ahead = null;
  return taken;
}
