/** The state of a rate limit, from `RateLimit` headers (IETF draft). */
export interface Limit {
  policy: string;
  /** The number of requests per window, and the window in milliseconds. */
  quota: number;
  window: number;
  left: number;
  /** When the response arrived, in milliseconds since the epoch. */
  at: number;
  /** When the next request becomes free, in milliseconds since the epoch; `null` if unknown. */
  freesAt: number | null;
}

const MAX_RESERVE = 10;

/**
 * Returns how many requests of a shared limit one click must leave for other callers. A caller's
 * own limit has no reserve.
 */
export function reserveOf({ policy, quota }: Limit): number {
  return policy.endsWith("-caller") ? 0 : Math.min(MAX_RESERVE, Math.floor(quota / 10));
}

/** Returns whether at most the reserve is left; false if the limit is unknown. */
export function isReserveReached(limit: Limit | null): boolean {
  return limit !== null && limit.left <= reserveOf(limit);
}

/** Returns the limit with the fewest requests left; null if the response has none. */
export function tightestLimit(headers: Headers, at: number): Limit | null {
  const limits = items(headers.get("ratelimit-policy")).flatMap(({ name, numbers }) => {
    const said = items(headers.get("ratelimit")).find((item) => item.name === name);
    const left = said?.numbers.r;
    const { q: quota, w: seconds } = numbers;
    if (quota === undefined || seconds === undefined || left === undefined) return [];
    const { t } = said?.numbers ?? {};
    const freesAt = t === undefined ? null : at + t * 1000;
    return [{ policy: name, quota, window: seconds * 1000, left, at, freesAt }];
  });
  return limits.reduce<Limit | null>(
    (least, limit) => (least === null || limit.left < least.left ? limit : least),
    null,
  );
}

interface Item {
  name: string;
  numbers: Record<string, number>;
}

/** Parses a list such as `"name";q=100;w=3600, "other";q=10;w=3600`. Skips invalid items. */
function items(field: string | null): Item[] {
  const found = (field ?? "").matchAll(/"([^"]+)"((?:\s*;\s*[a-z]+=\d+)*)/g);
  return [...found].map(([, name = "", parameters = ""]) => {
    const pairs = [...parameters.matchAll(/([a-z]+)=(\d+)/g)];
    return { name, numbers: Object.fromEntries(pairs.map(([, key, n]) => [key, Number(n)])) };
  });
}
