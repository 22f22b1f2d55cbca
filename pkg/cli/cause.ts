/** Finds out why `fetch` failed. */

interface Caused {
  code?: string;
  message?: string;
  cause?: unknown;
}

/**
 * Returns the code, such as `ECONNREFUSED`, or the message of the innermost `cause`. The outer
 * message of `fetch` is always "fetch failed".
 */
export function findCause(error: unknown): string {
  let inner = error as Caused;
  while (typeof inner.cause === "object" && inner.cause !== null) inner = inner.cause;
  return inner.code || inner.message || "no reason given";
}
