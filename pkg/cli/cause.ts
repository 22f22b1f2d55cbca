/** Finds the reason why a request got no response. */

interface Caused {
  code?: string;
  message?: string;
  cause?: unknown;
}

/**
 * Returns the code or message of the innermost `cause`. The error of `fetch` itself gives no
 * reason.
 */
export function findCause(error: unknown): string {
  let inner = error as Caused;
  while (typeof inner.cause === "object" && inner.cause !== null) inner = inner.cause;
  return inner.code || inner.message || "no reason given";
}
