/** Requests to the gateway about sessions, before anything is made of the answer. */
const TIMEOUT_MS = 20_000;

export function ask(method: string, path: string, body?: object): Promise<Response> {
  return fetch(path, {
    method,
    ...(body && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    credentials: "same-origin",
    // Whoever signs out and closes the tab is signed out.
    keepalive: method === "DELETE",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

export const SESSION = "/session";
let ahead: Promise<Response> | null = null;

/** Asks for the session before anybody wants to know. */
export function askAhead(): void {
  ahead = ask("GET", SESSION);
  // Whoever wants to know sees how it failed.
  ahead.catch(() => {});
}

/** What was answered to that, for the first who wants to know; null for any other. */
export function takeAnswerAhead(): Promise<Response> | null {
  const taken = ahead;
  ahead = null;
  return taken;
}
