/**
 * A budget in the gateway's way: a sliding log in SQLite, one row per request upstream, counted
 * in memory. It does not share slots fairly among callers.
 */
import { env } from "cloudflare:workers";
import { TIMEOUT } from "./upstream_client.mjs";

const WINDOW = Number(env.LIMIT_WINDOW_SECONDS) * 1000;
/** How often rows that have left the window are deleted, in milliseconds. */
const SWEEP_INTERVAL = 60_000;
const TABLES = `
  CREATE TABLE IF NOT EXISTS reservation (
    id INTEGER PRIMARY KEY,
    caller TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS reservation_at ON reservation (at);
`;

export class Budget {
  #sql;
  #policy;
  #limit;
  /** When each settled request counts from, ascending. */
  #settled;
  #pending = 0;
  #lastId = 0;
  #nextSweep = 0;

  constructor(sql, policy, limit) {
    this.#sql = sql;
    this.#policy = policy;
    this.#limit = limit;
    sql.exec(TABLES);
    const rows = sql.exec("SELECT id, at FROM reservation ORDER BY at").toArray();
    this.#settled = rows.map(({ at }) => at);
    for (const { id } of rows) this.#lastId = Math.max(this.#lastId, id);
  }

  /**
   * Takes a slot before the upstream is asked.
   *
   * @returns {{ headers: Record<string, string>, reservation: number } | { headers:
   *   Record<string, string>, failure: import("./upstream_client.mjs").Failure }}
   */
  reserve(caller) {
    const now = Date.now();
    while (this.#settled[0] <= now - WINDOW) this.#settled.shift();
    const used = this.#settled.length + this.#pending;
    const seconds = Math.ceil(((this.#settled[0] ?? now) + WINDOW - now) / 1000);
    const headers = {
      "ratelimit-policy": `"${this.#policy}";q=${this.#limit};w=${WINDOW / 1000}`,
      ratelimit: `"${this.#policy}";r=${Math.max(0, this.#limit - used - 1)};t=${seconds}`,
    };
    if (used >= this.#limit) {
      headers["retry-after"] = String(seconds);
      return { headers, failure: { status: 429, kind: "quota-exceeded" } };
    }
    this.#sweep(now);
    this.#lastId += 1;
    this.#pending += 1;
    // Until the request is settled, its slot must not free too early.
    const insert = "INSERT INTO reservation (id, caller, at) VALUES (?, ?, ?)";
    this.#sql.exec(insert, this.#lastId, caller, now + TIMEOUT);
    return { headers, reservation: this.#lastId };
  }

  /** Counts a request from now on: the upstream has received it. */
  settle(reservation) {
    const now = Date.now();
    this.#pending -= 1;
    this.#settled.push(now);
    this.#sql.exec("UPDATE reservation SET at = ? WHERE id = ?", now, reservation);
  }

  #sweep(now) {
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + SWEEP_INTERVAL;
    this.#sql.exec("DELETE FROM reservation WHERE at <= ?", now - WINDOW);
  }
}
