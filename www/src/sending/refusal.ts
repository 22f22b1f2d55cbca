/**
 * Returns whether the gateway definitely refused a write: it did nothing, and a retry with the
 * same key would get the same answer. The statuses 401, 403, 408, 409, 421 (a proxy answered) and 429
 * don't count, because they leave the outcome of an earlier attempt open.
 */
export function isRefusal(error: unknown): boolean {
  const { name, status } = Object(error) as { name?: unknown; status?: unknown };
  if (name === "OutcomeUnknownError" || typeof status !== "number") return false;
  return status >= 400 && status < 500 && ![401, 403, 408, 409, 421, 429].includes(status);
}
