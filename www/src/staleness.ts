/** An answer that the gateway had kept and gave because nothing newer was to be had. */
export interface Staleness {
  /** When the platform gave it, in milliseconds since 1970. */
  asOf: number;
  why: "no answer" | "limit used up";
}

/** Whether an answer is stale, by its `Cache-Status` (RFC 9211) and its `Age`. */
export function stalenessOf(headers: Headers, now: number): Staleness | null {
  const status = headers.get("cache-status") ?? "";
  const detail = /;\s*detail=(stale|quota-exceeded)(?=$|[\s;,])/.exec(status)?.[1];
  const age = Number(headers.get("age") ?? Number.NaN);
  if (detail === undefined || !Number.isFinite(age)) return null;
  return { asOf: now - age * 1000, why: detail === "stale" ? "no answer" : "limit used up" };
}

/** Of the parts of one whole, the one that is furthest behind speaks for it. */
export function older(a: Staleness | null, b: Staleness | null): Staleness | null {
  if (a === null || b === null) return a ?? b;
  return b.asOf < a.asOf ? b : a;
}
