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
    redirect: "manual",
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

let ahead: { answer: Promise<Answer>; until: unknown } | null = null;

/**
 * Requests the session early, before the page needs it.
 *
 * @param until the stored expiry, which another tab replaces when another person signs in
 */
export function askAhead(until: unknown): void {
  const request = fetch(SESSION, requestOptions("GET"));
  const answer = request.then((response) => ({ response, at: Date.now() }));
  // The caller of `takeAnswerAhead` handles the failure.
  answer.catch(() => {});
  ahead = { answer, until };
}

/**
 * Returns the early answer to the first caller, unless the stored expiry has changed since the
 * request. Returns null to all others, or without an early request.
 */
export function takeAnswerAhead(until: unknown): Promise<Answer> | null {
  const taken = ahead;
  ahead = null;
  if (taken === null || taken.until === until) return taken?.answer ?? null;
  taken.answer.then(({ response }) => response.body?.cancel()).catch(() => {});
  return null;
}
