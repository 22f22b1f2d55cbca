/** Reads `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */

/** The state of a rate limit. */
export interface RateLimit {
  /** The name of the policy. */
  policy: string;
  /** The number of requests left in the window. */
  left: number;
  /** The number of requests allowed per window; `null` if unknown. */
  quota: number | null;
  /** The length of the window in seconds; `null` if unknown. */
  window: number | null;
  /** The number of seconds until `left` increases; `null` if unknown. */
  next: number | null;
}

/**
 * Returns the rate limits of a response, that with the fewest requests left first. Skips invalid
 * items.
 *
 * @example
 * ```ts
 * const { response } = await client.analytics.views().withResponse();
 * const [tightest] = readLimits(response.headers);
 * ```
 */
export function readLimits(headers: { get(name: string): string | null }): RateLimit[] {
  const policies = new Map(readItems(headers.get("ratelimit-policy")));
  const limits = readItems(headers.get("ratelimit")).flatMap(([policy, { r: left, t = null }]) => {
    const { q: quota = null, w: window = null } = policies.get(policy) ?? {};
    return left === undefined ? [] : [{ policy, left, quota, window, next: t }];
  });
  return limits.sort((one, other) => one.left - other.left);
}

/** The integer parameters of an item, by name. */
type Integers = Partial<Record<string, number>>;

/** The items of a list of Structured Fields (RFC 9651), which may contain commas in strings. */
const ITEMS = /(?:"(?:[^"\\]|\\.)*"|[^",])+/g;
/** An item: a string or a token, and its parameters. */
const ITEM = /^\s*(?:"((?:[^"\\]|\\.)*)"|([a-z*][^\s",;=]*))\s*((?:;.*)?)$/i;
const PARAMETER = /;\s*([a-z*][\w.*-]*)(?:=("(?:[^"\\]|\\.)*"|[^";]*))?/g;

/** Parses a list such as `"a";r=1;t=2, "b";r=3` into names and integer parameters. */
function readItems(field: string | null): [name: string, Integers][] {
  return [...(field ?? "").matchAll(ITEMS)].flatMap(([text]) => {
    const [item, quoted, token, rest = ""] = ITEM.exec(text) ?? [];
    if (item === undefined) return [];
    const integers = [...rest.matchAll(PARAMETER)]
      .map(([, key, value = ""]) => [key, value.trim()] as const)
      .filter(([, value]) => /^\d{1,15}$/.test(value))
      .map(([key, value]) => [key, Number(value)] as const);
    const name = quoted?.replaceAll(/\\(.)/g, "$1") ?? (token as string);
    return [[name, Object.fromEntries(integers)] as [string, Integers]];
  });
}
