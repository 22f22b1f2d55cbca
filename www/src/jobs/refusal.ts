/**
 * Whether an error is the gateway's definite no to a write with an idempotency key: nothing was
 * done, and the same key would only bring the same answer again. Who may not, or not now, ask is
 * not told what became of an earlier attempt.
 */
export function isRefusal(error: unknown): boolean {
  const { name, status } = Object(error) as { name?: unknown; status?: unknown };
  if (name === "OutcomeUnknownError" || typeof status !== "number") return false;
  return status >= 400 && status < 500 && ![401, 403, 408, 409, 429].includes(status);
}
