/** Errors of a write that the client did not send. */
const UNSENT: unknown[] = ["ValidationError", "WasmLoadError"];
/** Refusals that say nothing about an earlier attempt with the same key. */
const OF_ONE_ATTEMPT = [401, 403, 429];
/** Statuses that leave the outcome open. 421 means that a proxy answered. */
const OPEN = [408, 409, 421];

/** Returns whether a write was definitely refused or not sent, so that its key is not needed again. */
export function isRefusal(error: unknown, { isRetry }: { isRetry: boolean }): boolean {
  const { name, status } = Object(error) as { name?: unknown; status?: unknown };
  if (name === "OutcomeUnknownError") return false;
  if (typeof status !== "number") return !isRetry && UNSENT.includes(name);
  if (status < 400 || status >= 500 || OPEN.includes(status)) return false;
  return !isRetry || !OF_ONE_ATTEMPT.includes(status);
}
