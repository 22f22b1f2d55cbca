/** What a server says of the budget, in the fields `RateLimit` and `RateLimit-Policy`. */

export interface Budget {
  /** The policy's name. */
  name: string;
  /** Requests that are left. */
  left: number;
  /** Requests within the window; `null` when it is not said. */
  limit: number | null;
  /** The window, in seconds. */
  window: number | null;
  /** In how many seconds there is another one. */
  next: number | null;
}

/** Reads the tightest of the budgets that a response names (draft-ietf-httpapi-ratelimit-headers). */
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

/** The items of a list such as `"a";r=1;t=2, "b";r=3`. */
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
