/** An answer that the gateway had kept and gave because nothing newer was to be had. */
export interface Staleness {
  /** When the platform gave it, in milliseconds since 1970. */
  asOf: number;
  why: "no answer" | "limit used up";
}

/** Whether an answer is older than was asked for, by its `Cache-Status` (RFC 9211) and its `Age`. */
export function stalenessOf(headers: Headers, now: number): Staleness | null {
  const why = reasonOf(headers.get("cache-status") ?? "");
  const age = Number(headers.get("age") ?? Number.NaN);
  return why && Number.isFinite(age) ? { asOf: now - age * 1000, why } : null;
}

/** A request that went on to the platform and brought nothing to keep was not answered. */
function reasonOf(status: string): Staleness["why"] | null {
  if (/;\s*detail=quota-exceeded(?=$|[\s;,])/.test(status)) return "limit used up";
  const wentOn = /;\s*fwd=/.test(status);
  return wentOn && !/;\s*(?:stored|collapsed)(?=$|[\s;,])/.test(status) ? "no answer" : null;
}

/** Of the parts of one whole, the one that is furthest behind speaks for it. */
export function older(a: Staleness | null, b: Staleness | null): Staleness | null {
  if (a === null || b === null) return a ?? b;
  return b.asOf < a.asOf ? b : a;
}

/** Whether the gateway answered from what it had kept, without the platform. */
export function isFromCache(headers: Headers): boolean {
  return /;\s*hit(?=$|[\s;,])/.test(headers.get("cache-status") ?? "");
}

/** For how long such an answer is kept, in milliseconds; null when that is not said. */
export function freshnessOf(headers: Headers): number | null {
  const seconds = /(?:^|[\s,])max-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1];
  return seconds === undefined || seconds === "0" ? null : Number(seconds) * 1000;
}
