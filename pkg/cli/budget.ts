/** Reads the request budget from the `RateLimit` and `RateLimit-Policy` fields of a response. */

/** The state of one rate limit policy. */
export interface Budget {
  name: string;
  /** The number of requests left in the current window. */
  left: number;
  /** The number of requests allowed per window; `null` if unknown. */
  limit: number | null;
  /** The length of the window in seconds; `null` if unknown. */
  window: number | null;
  /** The number of seconds until `left` increases; `null` if unknown. */
  next: number | null;
}

/**
 * Returns the budget with the fewest requests left, or `null` if the response has no budget.
 *
 * See draft-ietf-httpapi-ratelimit-headers.
 */
export function readBudget(headers: Pick<Headers, "get">): Budget | null {
  const policies = readItems(headers.get("ratelimit-policy"));
  const budgets = [...readItems(headers.get("ratelimit"))].flatMap(([name, values]) => {
    const left = values.get("r");
    if (left === undefined) return [];
    const policy = policies.get(name);
    const limit = policy?.get("q") ?? null;
    return [{ name, left, limit, window: policy?.get("w") ?? null, next: values.get("t") ?? null }];
  });
  return budgets.sort((one, other) => one.left - other.left)[0] ?? null;
}

/** Parses a list such as `"a";r=1;t=2, "b";r=3` into the integer parameters of each item. */
function readItems(field: string | null): Map<string, Map<string, number>> {
  const items = new Map<string, Map<string, number>>();
  for (const [, name, rest] of (field ?? "").matchAll(/"([^"]*)"((?:\s*;\s*[a-z]+=[^;,]*)*)/g)) {
    const values = new Map<string, number>();
    for (const [, key, value] of (rest as string).matchAll(/([a-z]+)=(\d+)/g)) {
      values.set(key as string, Number(value));
    }
    items.set(name as string, values);
  }
  return items;
}
