/** Describes a cached response that the gateway served because it had nothing newer. */
export interface Staleness {
  /** When Mintlify answered, in milliseconds since the epoch. */
  asOf: number;
  why: "no answer" | "limit used up";
}

/**
 * Detects a stale response from its `Cache-Status` (RFC 9211) and `Age`. Returns null for other
 * responses.
 */
export function stalenessOf(headers: Headers, now: number): Staleness | null {
  const why = reasonOf(headers.get("cache-status") ?? "");
  const age = Number(headers.get("age") ?? Number.NaN);
  return why && Number.isFinite(age) ? { asOf: now - age * 1000, why } : null;
}

/** A forwarded request without a stored response means that Mintlify did not answer. */
function reasonOf(status: string): Staleness["why"] | null {
  if (/;\s*detail=quota-exceeded(?=$|[\s;,])/.test(status)) return "limit used up";
  const wentOn = /;\s*fwd=/.test(status);
  return wentOn && !/;\s*(?:stored|collapsed)(?=$|[\s;,])/.test(status) ? "no answer" : null;
}

/** Returns the older of two, because the oldest part determines how stale the whole is. */
export function older(a: Staleness | null, b: Staleness | null): Staleness | null {
  if (a === null || b === null) return a ?? b;
  return b.asOf < a.asOf ? b : a;
}

/** Returns whether the gateway answered from its cache, without asking Mintlify. */
export function isFromCache(headers: Headers): boolean {
  return /;\s*hit(?=$|[\s;,])/.test(headers.get("cache-status") ?? "");
}

/** Returns the cache lifetime in milliseconds; null if the response has none or 0. */
export function freshnessOf(headers: Headers): number | null {
  const seconds = /(?:^|[\s,])max-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1];
  return seconds === undefined || seconds === "0" ? null : Number(seconds) * 1000;
}
