/**
 * Counterpart of the gateway's organization object. It has the analytics budget and caches
 * pages in SQLite and in memory. Concurrent requests for a page share one fetch. It caches
 * responses verbatim, so it neither cuts pages nor joins them.
 */
import { DurableObject, env as variables } from "cloudflare:workers";
import { Budget } from "./budget.mjs";
import { isPage } from "./rules.mjs";
import { requestJson } from "./upstream_client.mjs";

const LIMIT = Number(variables.ANALYTICS_LIMIT_PER_HOUR);
const FRESH_FOR = Number(variables.ANALYTICS_FRESH_SECONDS) * 1000;
/** Interval between deletions of stale pages, in milliseconds. */
const SWEEP_INTERVAL = 60_000;
/** Maximum number of pages in memory. */
const MAX_IN_MEMORY = 64;
const PAGE = { maxBytes: 1_500_000, isValid: isPage };
const BASE64URL = { alphabet: "base64url", omitPadding: true };
const TABLES = `
  CREATE TABLE IF NOT EXISTS page (
    target TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    etag TEXT NOT NULL,
    fetched INTEGER NOT NULL,
    fresh_until INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS page_fresh_until ON page (fresh_until);
`;
const encoder = new TextEncoder();

/**
 * @typedef {object} Page
 * @property {string} text
 * @property {string} etag
 * @property {number} fetched in milliseconds since the Unix epoch
 * @property {number} freshUntil
 *
 * @typedef {object} PageResult
 * @property {Record<string, string>} headers of the budget; empty if the page came from
 *   the cache or from the fetch of another request
 * @property {Page} [page]
 * @property {string} [cache] `Cache-Status` after the cache's name
 * @property {import("./upstream_client.mjs").Failure} [failure] instead of a page
 */
export class OrgGate extends DurableObject {
  #sql;
  #budget;
  #memory = new Map();
  /** Pending fetches by target. */
  #fetches = new Map();
  #nextSweep = 0;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(TABLES);
    this.#budget = new Budget(this.#sql, "analytics", LIMIT);
  }

  /** @returns {Promise<PageResult>} */
  async listViews({ caller, target }) {
    const page = this.#find(target);
    const now = Date.now();
    if (page && now < page.freshUntil) {
      const seconds = Math.floor((page.freshUntil - now) / 1000);
      return { page, cache: `hit; ttl=${seconds}`, headers: {} };
    }
    const shared = this.#fetches.get(target);
    if (shared) return { ...(await shared), cache: "fwd=uri-miss; collapsed", headers: {} };
    const slot = this.#budget.reserve(caller);
    if (slot.failure) return slot;
    const fetched = this.#fetch(target, slot).finally(() => this.#fetches.delete(target));
    this.#fetches.set(target, fetched);
    // Other requests may wait for the page after the caller has disconnected.
    this.ctx.waitUntil(fetched);
    return await fetched;
  }

  async #fetch(target, { headers, reservation }) {
    const result = await requestJson({ method: "GET", target }, PAGE);
    this.#budget.settle(reservation);
    if (result.failure) return { failure: result.failure, headers };
    const { text } = result;
    const etag = await hash(text);
    const fetched = Date.now();
    const page = { text, etag, fetched, freshUntil: fetched + FRESH_FOR };
    this.#store(target, page);
    return { page, cache: "fwd=uri-miss; stored", headers };
  }

  #find(target) {
    const cached = this.#memory.get(target);
    if (cached) return cached;
    const [row] = this.#sql.exec("SELECT * FROM page WHERE target = ?", target).toArray();
    if (!row) return undefined;
    const { text, etag, fetched, fresh_until: freshUntil } = row;
    const page = { text, etag, fetched, freshUntil };
    this.#cache(target, page);
    return page;
  }

  #store(target, page) {
    const { text, etag, fetched, freshUntil } = page;
    this.#sweep(fetched);
    this.#sql.exec(
      `INSERT OR REPLACE INTO page (target, text, etag, fetched, fresh_until)
       VALUES (?, ?, ?, ?, ?)`,
      target,
      text,
      etag,
      fetched,
      freshUntil,
    );
    this.#cache(target, page);
  }

  #cache(target, page) {
    this.#memory.set(target, page);
    if (this.#memory.size > MAX_IN_MEMORY) this.#memory.delete(this.#memory.keys().next().value);
  }

  #sweep(now) {
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + SWEEP_INTERVAL;
    this.#sql.exec("DELETE FROM page WHERE fresh_until <= ?", now);
  }
}

/** Returns 132 bits of SHA-256 as an entity tag. */
async function hash(text) {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text));
  return `"${new Uint8Array(digest, 0, 17).toBase64(BASE64URL).slice(0, 22)}"`;
}
