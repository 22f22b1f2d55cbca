/** Why a request had no answer. */

interface Caused {
  code?: string;
  message?: string;
  cause?: unknown;
}

/** The innermost reason: `fetch` itself only says that it has failed. */
export function findCause(error: unknown): string {
  let inner = error as Caused;
  while (typeof inner.cause === "object" && inner.cause !== null) inner = inner.cause;
  return inner.code || inner.message || "no reason given";
}
