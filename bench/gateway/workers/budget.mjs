/**
 * Counterpart of the gateway's budget. It is a sliding log: SQLite has one row for each request
 * upstream, and memory has the counts.
 */
import { env } from "cloudflare:workers";
import { TIMEOUT } from "./upstream_client.mjs";

const WINDOW = Number(env.LIMIT_WINDOW_SECONDS) * 1000;
/** Interval between deletions of rows outside the window, in milliseconds. */
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
  /** Start times of the windows of settled requests, ascending. */
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
   * Reserves a slot for a request upstream.
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
    // An unsettled request occupies its slot until its timeout and a whole window have passed.
    const insert = "INSERT INTO reservation (id, caller, at) VALUES (?, ?, ?)";
    this.#sql.exec(insert, this.#lastId, caller, now + TIMEOUT);
    return { headers, reservation: this.#lastId };
  }

  /** Starts the window of a request that has ended, successfully or not. */
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
