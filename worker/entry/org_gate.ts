/**
 * The gate of the organisation's analytics: its one budget, the pages that were fetched
 * under it, and the keys of trusted issuers, which are fetched once for everybody.
 */
import { DurableObject } from "cloudflare:workers";
import { BUDGET_TABLES, Budget, type Slot } from "./budget.js";
import type { Answer, Settings, Views } from "./core.js";
import { settingsOf } from "./core.js";
import type { Env } from "./env.js";
import { KeySets } from "./key_sets.js";
import { cutFrom, etagOf, isPage, PAGE_ROWS, type Page, type Piece, tagOf } from "./pages.js";
import type { Report, Reported } from "./report.js";
import { withHeaders, withInstance } from "./report.js";
import { migrate } from "./schema.js";
import { askJson, breakerWord, type Exchange, malformed } from "./upstream.js";

const PAGE_TABLES = `
  CREATE TABLE page (
    list TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    tag TEXT NOT NULL,
    rows INTEGER NOT NULL,
    has_more INTEGER NOT NULL,
    fetched INTEGER NOT NULL,
    fresh_until INTEGER NOT NULL,
    PRIMARY KEY (list, number)
  );
  CREATE INDEX page_fresh_until ON page (fresh_until);
`;

const STEPS = [BUDGET_TABLES, PAGE_TABLES];
const POLICY = "analytics";
/** How long a page is served after it was fresh, rather than an error: a day. */
const STALE_FOR = 86_400_000;
/** How often those that are older are dropped. */
const FORGETTING = 60_000;
/** Pages that are kept in memory as well. */
const IN_MEMORY = 64;

/** A request for page views, with what is passed on of its head. */
export interface ViewsCall {
  id: string;
  caller: string;
  share: number | null;
  traceparent: string;
  views: Views;
  /** Whether the caller wants none of what is kept (`Cache-Control: no-cache`). */
  revalidate: boolean;
}

/** Page views, and all that its header fields are made of. */
export interface ViewsAnswer {
  body: string;
  etag: string;
  /** When the oldest page was fetched, and until when all are fresh. */
  fetched: number;
  freshUntil: number;
  /** `Cache-Status`, after its name (RFC 9211). */
  cache: string;
  /** `RateLimit-Policy` and `RateLimit`, when the budget was asked. */
  headers: Record<string, string>;
}

export type ViewsReported = { report: Report } & ({ views: ViewsAnswer } | { answer: Answer });

/** A slot that was granted. */
type Granted = Extract<Slot, { reservation: number }>;

/** A page as it is kept. */
type PageRow = {
  text: string;
  tag: string;
  rows: number;
  has_more: number;
  fetched: number;
  fresh_until: number;
};

/** A page and how it was come by, or why it cannot be had. */
type Got = {
  headers: Record<string, string>;
  exchange?: Exchange;
  left?: number;
} & ({ page: Page; cache: string } | { answer: Answer });

export class OrgGate extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #settings: Settings;
  readonly #budget: Budget;
  readonly #keySets: KeySets;
  /** Fetches under way by list and number: whoever wants such a page waits for it. */
  readonly #fetches = new Map<string, Promise<Got>>();
  readonly #memory = new Map<string, Page>();
  #nextForgetting = 0;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#settings = settingsOf(env);
    migrate(state.storage, STEPS);
    this.#sql = state.storage.sql;
    this.#budget = new Budget(this.#sql, this.#settings);
    this.#keySets = new KeySets();
  }

  /** Answers with page views, from what is kept or from upstream. */
  async views(call: ViewsCall): Promise<ViewsReported> {
    const { limit, offset } = call.views;
    const pieces: Piece[] = [];
    const got: Got[] = [];
    for (let at = offset; at < offset + limit; ) {
      const number = Math.floor(at / PAGE_ROWS);
      const end = Math.min(offset + limit, (number + 1) * PAGE_ROWS);
      const one = await this.#page(call, number);
      got.push(one);
      if ("answer" in one) {
        return { answer: withHeaders(one.answer, one.headers), report: reportOf(got) };
      }
      const skip = at - number * PAGE_ROWS;
      pieces.push({ page: one.page, from: skip, to: end - number * PAGE_ROWS });
      if (!one.page.hasMore) break;
      at = end;
    }
    const views: ViewsAnswer = {
      body: cutFrom(pieces),
      etag: etagOf(pieces),
      fetched: Math.min(...pieces.map(({ page }) => page.fetched)),
      freshUntil: Math.min(...pieces.map(({ page }) => page.freshUntil)),
      cache: got.map((one) => ("cache" in one ? one.cache : "")).reduce(worst),
      headers: Object.assign({}, ...got.map(({ headers }) => headers)),
    };
    return { views, report: reportOf(got) };
  }

  async #page(call: ViewsCall, number: number): Promise<Got> {
    const { list } = call.views;
    const kept = this.#kept(list, number);
    const fresh = kept !== undefined && Date.now() < kept.freshUntil;
    if (fresh && !call.revalidate) return { page: kept, cache: hit(kept), headers: {} };
    const name = `${list} ${number}`;
    const under = this.#fetches.get(name);
    if (under) {
      return joined(await under, call.id);
    }
    const slot = this.#budget.reserve(this.#claimant(call), call.id);
    if (slot.answer) {
      const { headers, left } = slot;
      if (!usable(kept)) return { answer: slot.answer, headers, left };
      return { page: kept, cache: `${hit(kept)}; detail=quota-exceeded`, headers, left };
    }
    const fetched = this.#fetched(call, number, kept, slot).finally(() => {
      this.#fetches.delete(name);
    });
    this.#fetches.set(name, fetched);
    // The caller may leave, and with it nobody else's page.
    this.ctx.waitUntil(fetched);
    return fetched;
  }

  #claimant({ caller, share }: ViewsCall) {
    return { policy: POLICY, limit: this.#settings.analyticsLimit, caller, share };
  }

  async #fetched(
    call: ViewsCall,
    number: number,
    kept: Page | undefined,
    slot: Granted,
  ): Promise<Got> {
    const { id, traceparent, views } = call;
    const join = views.list.includes("?") ? "&" : "?";
    const target = `${views.list}${join}limit=${PAGE_ROWS}&offset=${number * PAGE_ROWS}`;
    const asked = { id, method: "GET" as const, target, traceparent };
    const again = () => this.#again(call, slot);
    const { exchange, reading, json, text } = await askJson(this.#settings, asked, again);
    if (reading.closedFor !== null) this.#budget.close(POLICY, reading.closedFor);
    if (reading.settled === "forget") this.#budget.release(slot.reservation);
    else this.#budget.settle(slot.reservation);

    const { headers, left } = slot;
    const told = { headers, left, exchange };
    if (json && isPage(json)) {
      const fetched = Date.now();
      const page: Page = {
        text,
        tag: await tagOf(text),
        rows: json.views.length,
        hasMore: json.hasMore,
        fetched,
        freshUntil: fetched + views.freshFor,
      };
      this.#keep(views.list, number, page);
      const why = call.revalidate ? "request" : kept ? "stale" : "uri-miss";
      return { ...told, page, cache: `fwd=${why}; stored` };
    }
    const answer = reading.answer ?? malformed(asked).answer;
    if (!answer) throw new Error("a page that is neither read nor refused");
    const passing = answer.status === 429 || answer.status >= 500;
    if (!passing || !usable(kept)) return { ...told, answer };
    const status = exchange.status === null ? "" : `; fwd-status=${exchange.status}`;
    const why = Date.now() < kept.freshUntil ? "request" : "stale";
    const detail = why === "stale" ? "; detail=stale" : "";
    const cache = `fwd=${why}${status}; ttl=${ttl(kept)}${detail}`;
    return { ...told, page: kept, cache };
  }

  /** Pays for the repetition of a request; a budget that is spent has none. */
  #again(call: ViewsCall, first: Granted): boolean {
    const slot = this.#budget.reserve(this.#claimant(call), call.id);
    if (slot.answer) return false;
    this.#budget.settle(first.reservation);
    Object.assign(first, slot);
    return true;
  }

  #kept(list: string, number: number): Page | undefined {
    const name = `${list} ${number}`;
    const remembered = this.#memory.get(name);
    if (remembered) return remembered;
    const row = this.#sql
      .exec<PageRow>("SELECT * FROM page WHERE list = ? AND number = ?", list, number)
      .toArray()[0];
    if (!row) return undefined;
    const { text, tag, rows, has_more, fetched, fresh_until } = row;
    const page = { text, tag, rows, hasMore: has_more !== 0, fetched, freshUntil: fresh_until };
    this.#remember(name, page);
    return page;
  }

  #keep(list: string, number: number, page: Page): void {
    const { text, tag, rows, hasMore, fetched, freshUntil } = page;
    this.#forgetOld(fetched);
    this.#sql.exec(
      `INSERT OR REPLACE INTO page (list, number, text, tag, rows, has_more, fetched, fresh_until)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      list,
      number,
      text,
      tag,
      rows,
      hasMore ? 1 : 0,
      fetched,
      freshUntil,
    );
    this.#remember(`${list} ${number}`, page);
  }

  /** Drops the pages that are not even served stale any more, now and then. */
  #forgetOld(now: number): void {
    if (now < this.#nextForgetting) return;
    this.#nextForgetting = now + FORGETTING;
    this.#sql.exec("DELETE FROM page WHERE fresh_until <= ?", now - STALE_FOR);
  }

  #remember(name: string, page: Page): void {
    this.#memory.delete(name);
    this.#memory.set(name, page);
    if (this.#memory.size <= IN_MEMORY) return;
    const oldest = this.#memory.keys().next().value;
    if (oldest !== undefined) this.#memory.delete(oldest);
  }

  /** The JWK Set of a trusted issuer, which knows this key unless it has not got it. */
  async keySet(address: string, kid: string): Promise<{ set: string } | { unavailable: true }> {
    return await this.#keySets.get(address, kid);
  }

  /** What an operator is told. */
  health() {
    const { analyticsLimit } = this.#settings;
    const { pages } = this.#sql.exec<{ pages: number }>("SELECT count(*) AS pages FROM page").one();
    return {
      breaker: breakerWord(),
      budgets: { [POLICY]: this.#budget.state(POLICY, analyticsLimit) },
      cachedPages: pages,
    };
  }
}

function usable(page: Page | undefined): page is Page {
  return page !== undefined && Date.now() < page.freshUntil + STALE_FOR;
}

/** Seconds for which a page is still fresh; below zero when it is not. */
function ttl({ freshUntil }: Page): number {
  return Math.floor((freshUntil - Date.now()) / 1000);
}

function hit(page: Page): string {
  return `hit; ttl=${ttl(page)}`;
}

/** What another's fetch gives to one who waited for it: nothing of that one's own. */
function joined(got: Got, id: string): Got {
  if ("answer" in got) return { answer: withInstance(got.answer, id), headers: {} };
  return { page: got.page, cache: got.cache.replace(/stored$/, "collapsed"), headers: {} };
}

/** Of the pages of one answer, that which is worst is told of: stale, else fetched, else kept. */
function worst(a: string, b: string): string {
  const rank = (cache: string) => (cache.includes("detail=") ? 2 : cache.startsWith("fwd") ? 1 : 0);
  return rank(b) >= rank(a) ? b : a;
}

function reportOf(got: Got[]): Report {
  const last = got.at(-1);
  return {
    ...(last?.exchange ? { upstream: last.exchange } : {}),
    ...(last?.left === undefined ? {} : { budgetLeft: last.left }),
  };
}

export type { Reported };
