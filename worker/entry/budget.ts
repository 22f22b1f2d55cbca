/**
 * Budgets kept in SQLite: a sliding log of reservations, one row for each request upstream
 * of the last window. What may be granted is decided by `worker/src/budget.rs`; between its
 * reading and the new row nothing else runs.
 */
import type { Answer } from "./core.js";
import { reserve } from "./core.js";

/** The tables, the first step of both gates. */
export const BUDGET_TABLES = `
  CREATE TABLE reservation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX reservation_policy ON reservation (policy, caller, at);
  CREATE INDEX reservation_at ON reservation (at);
  CREATE TABLE claim (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    until INTEGER NOT NULL
  );
  CREATE INDEX claim_caller ON claim (policy, caller);
  CREATE TABLE closed (policy TEXT PRIMARY KEY, until INTEGER NOT NULL);
`;

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
  /** Until when the upstream refuses, by policy: as stored. */
  readonly #closed: Map<string, number>;
  /** Policies under which nobody has an open claim, as far as is known. */
  readonly #unclaimed = new Set<string>();
  /** Before this nothing leaves the window. */
  #nextExpiry = 0;

  /** `window` and the upstream's `timeout` are in milliseconds. */
  constructor(sql: SqlStorage, { window, timeout }: { window: number; timeout: number }) {
    this.#sql = sql;
    this.#window = window;
    this.#timeout = timeout;
    const closed = sql.exec<{ policy: string; until: number }>("SELECT policy, until FROM closed");
    this.#closed = new Map(closed.toArray().map(({ policy, until }) => [policy, until]));
  }

  /** Takes a slot, before the upstream is asked. */
  reserve(claimant: Claimant, id: string): Slot {
    const now = Date.now();
    const { policy, limit, caller, share } = claimant;
    const used = this.#used(policy, now);
    const claims = this.#claims(policy, now);
    const closedUntil = this.#closed.get(policy) ?? null;
    const window = this.#window;
    const ask = { policy, limit, caller, share, now, window, used, claims, closedUntil };
    const { headers, left, answer, claimUntil } = reserve(ask, id);
    if (answer) {
      if (claimUntil !== null) this.#claim(claimant, claimUntil, claims);
      return { headers, left, answer };
    }
    if (claims.length > 0) this.#redeem(policy, caller);
    // As late as the request may be answered: until then nothing is freed too early.
    const { reservation } = this.#sql
      .exec<{ reservation: number }>(
        "INSERT INTO reservation (policy, caller, at) VALUES (?, ?, ?) RETURNING id AS reservation",
        policy,
        caller,
        now + this.#timeout,
      )
      .one();
    return { headers, left, reservation };
  }

  /** Counts a request from now on, when the upstream has had it. */
  settle(reservation: number): void {
    const now = Date.now();
    this.#nextExpiry = Math.min(this.#nextExpiry, now + this.#window);
    this.#sql.exec("UPDATE reservation SET at = ? WHERE id = ?", now, reservation);
  }

  /** Gives a slot back: the upstream did nothing. */
  release(reservation: number): void {
    this.#sql.exec("DELETE FROM reservation WHERE id = ?", reservation);
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
    const used = this.#used(policy, now).reduce((sum, { count }) => sum + count, 0);
    const until = this.#closed.get(policy) ?? 0;
    const closedUntil = until > now ? until : null;
    return { limit, left: closedUntil ? 0 : Math.max(0, limit - used), closedUntil };
  }

  #used(policy: string, now: number) {
    const since = now - this.#window;
    if (now >= this.#nextExpiry) {
      this.#sql.exec("DELETE FROM reservation WHERE at <= ?", since);
      const { oldest } = this.#sql
        .exec<{ oldest: number | null }>("SELECT min(at) AS oldest FROM reservation")
        .one();
      this.#nextExpiry = (oldest ?? now) + this.#window;
    }
    return this.#sql
      .exec<{ caller: string; count: number; oldest: number }>(
        `SELECT caller, count(*) AS count, min(at) AS oldest FROM reservation
         WHERE policy = ? AND at > ? GROUP BY caller`,
        policy,
        since,
      )
      .toArray();
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
