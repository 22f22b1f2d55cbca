/**
 * Budgets: a sliding log of reservations, one for each request upstream of the last window.
 * SQLite keeps it; this object, the only one that writes it, has it in memory as well. What
 * may be granted is decided by `worker/src/budget.rs`; between its reading and the new row
 * nothing else runs.
 */
import type { Answer } from "./core.js";
import { reserve } from "./core.js";
import { Usage } from "./usage.js";

/** The tables, the first step of both gates. */
export const BUDGET_TABLES = `
  CREATE TABLE reservation (
    id INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX reservation_at ON reservation (at);
  CREATE TABLE claim (
    id INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    until INTEGER NOT NULL
  );
  CREATE INDEX claim_caller ON claim (policy, caller);
  CREATE TABLE closed (policy TEXT PRIMARY KEY, until INTEGER NOT NULL);
`;

/** How often rows that have left the window are dropped. */
const SWEEPING = 60_000;

/** Who asks for a slot, and under which policy. */
export interface Claimant {
  policy: string;
  limit: number;
  caller: string;
  share: number | null;
}

/** A slot that was granted, or the answer that says why none was. */
export type Slot = {
  /** `RateLimit-Policy` and `RateLimit`. */
  headers: Record<string, string>;
  left: number;
} & ({ reservation: number; answer?: undefined } | { answer: Answer });

export class Budget {
  readonly #sql: SqlStorage;
  readonly #window: number;
  readonly #timeout: number;
  readonly #usage: Usage;
  /** Until when the upstream refuses, by policy: as stored. */
  readonly #closed: Map<string, number>;
  /** Policies under which nobody has an open claim, as far as is known. */
  readonly #unclaimed = new Set<string>();
  #nextSweep = 0;
  #lastId = 0;

  /** `window` and the upstream's `timeout` are in milliseconds. */
  constructor(sql: SqlStorage, { window, timeout }: { window: number; timeout: number }) {
    this.#sql = sql;
    this.#window = window;
    this.#timeout = timeout;
    this.#usage = new Usage(window);
    const now = Date.now();
    this.#sweep(now);
    const rows = sql.exec<{ id: number; policy: string; caller: string; at: number }>(
      "SELECT id, policy, caller, at FROM reservation ORDER BY at",
    );
    for (const { id, policy, caller, at } of rows) {
      this.#lastId = Math.max(this.#lastId, id);
      this.#usage.begin(id, policy, caller, at);
      // Those still to come were under way when an earlier instance ended.
      if (at <= now) this.#usage.settle(id, at);
    }
    const closed = sql.exec<{ policy: string; until: number }>("SELECT policy, until FROM closed");
    this.#closed = new Map(closed.toArray().map(({ policy, until }) => [policy, until]));
  }

  /** Takes a slot, before the upstream is asked. */
  reserve(claimant: Claimant, id: string): Slot {
    const now = Date.now();
    const { policy, limit, caller, share } = claimant;
    const used = this.#usage.of(policy, now);
    const claims = this.#claims(policy, now);
    const closedUntil = this.#closed.get(policy) ?? null;
    const window = this.#window;
    const ask = { id, policy, limit, caller, share, now, window, used, claims, closedUntil };
    const { headers, left, answer, claimUntil } = reserve(ask);
    if (answer) {
      if (claimUntil !== null) this.#claim(claimant, claimUntil, claims);
      return { headers: budgetFields(answer), left, answer };
    }
    if (claims.length > 0) this.#redeem(policy, caller);
    return { headers, left, reservation: this.#begin(policy, caller, now) };
  }

  #begin(policy: string, caller: string, now: number): number {
    if (now >= this.#nextSweep) this.#sweep(now);
    this.#lastId += 1;
    // As late as the request may be answered: until then nothing is freed too early.
    const at = now + this.#timeout;
    this.#sql.exec(
      "INSERT INTO reservation (id, policy, caller, at) VALUES (?, ?, ?, ?)",
      this.#lastId,
      policy,
      caller,
      at,
    );
    this.#usage.begin(this.#lastId, policy, caller, at);
    return this.#lastId;
  }

  /** Counts a request from now on, when the upstream has had it. */
  settle(reservation: number): void {
    const now = Date.now();
    this.#usage.settle(reservation, now);
    this.#sql.exec("UPDATE reservation SET at = ? WHERE id = ?", now, reservation);
  }

  /** Gives a slot back: the upstream did nothing. */
  release(reservation: number): void {
    this.#usage.release(reservation);
    this.#sql.exec("DELETE FROM reservation WHERE id = ?", reservation);
  }

  #sweep(now: number): void {
    this.#nextSweep = now + SWEEPING;
    this.#sql.exec("DELETE FROM reservation WHERE at <= ?", now - this.#window);
  }

  /** Takes the upstream's word that nothing is left for so many milliseconds. */
  close(policy: string, milliseconds: number): void {
    const until = Math.max(Date.now() + milliseconds, this.#closed.get(policy) ?? 0);
    this.#closed.set(policy, until);
    this.#sql.exec("INSERT OR REPLACE INTO closed (policy, until) VALUES (?, ?)", policy, until);
  }

  /** How many slots are free, and until when the upstream refuses. */
  state(
    policy: string,
    limit: number,
  ): { limit: number; left: number; closedUntil: number | null } {
    const now = Date.now();
    const used = this.#usage.of(policy, now).reduce((sum, { count }) => sum + count, 0);
    const until = this.#closed.get(policy) ?? 0;
    const closedUntil = until > now ? until : null;
    return { limit, left: closedUntil ? 0 : Math.max(0, limit - used), closedUntil };
  }

  #claims(policy: string, now: number): { caller: string; count: number }[] {
    if (this.#unclaimed.has(policy)) return [];
    this.#sql.exec("DELETE FROM claim WHERE until <= ?", now);
    const claims = this.#sql
      .exec<{ caller: string; count: number }>(
        "SELECT caller, count(*) AS count FROM claim WHERE policy = ? GROUP BY caller",
        policy,
      )
      .toArray();
    if (claims.length === 0) this.#unclaimed.add(policy);
    return claims;
  }

  /** Remembers who was refused; more claims than slots would mean nothing. */
  #claim(
    { policy, caller, limit }: Claimant,
    until: number,
    claims: { caller: string; count: number }[],
  ): void {
    const own = claims.find((claim) => claim.caller === caller)?.count ?? 0;
    if (own >= limit) return;
    this.#unclaimed.delete(policy);
    this.#sql.exec(
      "INSERT INTO claim (policy, caller, until) VALUES (?, ?, ?)",
      policy,
      caller,
      until,
    );
  }

  #redeem(policy: string, caller: string): void {
    this.#sql.exec(
      `DELETE FROM claim WHERE id =
         (SELECT min(id) FROM claim WHERE policy = ? AND caller = ?)`,
      policy,
      caller,
    );
  }
}

/** What a refusal says of the budget, for an answer that is none. */
function budgetFields({ headers }: Answer): Record<string, string> {
  const names = ["ratelimit-policy", "ratelimit"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}
