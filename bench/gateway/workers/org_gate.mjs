/**
 * The peers' counterpart of the gateway's organisation object: the analytics budget, and pages in
 * SQLite and in memory, each fetched once for everyone who waits for it. It keeps an answer as it
 * was asked for, so it neither cuts pages nor joins them.
 */
import { DurableObject, env as variables } from "cloudflare:workers";
import { Budget } from "./budget.mjs";
import { isPage } from "./rules.mjs";
import { requestJson } from "./upstream_client.mjs";

const LIMIT = Number(variables.ANALYTICS_LIMIT_PER_HOUR);
const FRESH_FOR = Number(variables.ANALYTICS_FRESH_SECONDS) * 1000;
/** How often pages that are no longer fresh are deleted, in milliseconds. */
const SWEEP_INTERVAL = 60_000;
/** How many pages are kept in memory as well. */
const IN_MEMORY = 64;
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
 * @property {Record<string, string>} headers of the budget, when it was asked
 * @property {Page} [page]
 * @property {string} [cache] `Cache-Status` after the cache's name
 * @property {import("./upstream_client.mjs").Failure} [failure] when there is no page
 */
export class OrgGate extends DurableObject {
  #sql;
  #budget;
  #memory = new Map();
  /** Fetches under way, by target. */
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
    // The caller may leave while others wait for the same page.
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
    this.#keep(target, page);
    return { page, cache: "fwd=uri-miss; stored", headers };
  }

  #find(target) {
    const remembered = this.#memory.get(target);
    if (remembered) return remembered;
    const [row] = this.#sql.exec("SELECT * FROM page WHERE target = ?", target).toArray();
    if (!row) return undefined;
    const { text, etag, fetched, fresh_until: freshUntil } = row;
    const page = { text, etag, fetched, freshUntil };
    this.#remember(target, page);
    return page;
  }

  #keep(target, page) {
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
    this.#remember(target, page);
  }

  #remember(target, page) {
    this.#memory.set(target, page);
    if (this.#memory.size > IN_MEMORY) this.#memory.delete(this.#memory.keys().next().value);
  }

  #sweep(now) {
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + SWEEP_INTERVAL;
    this.#sql.exec("DELETE FROM page WHERE fresh_until <= ?", now);
  }
}

/** 132 bits of SHA-256 as an entity tag. */
async function hash(text) {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text));
  return `"${new Uint8Array(digest, 0, 17).toBase64(BASE64URL).slice(0, 22)}"`;
}
