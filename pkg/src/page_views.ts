/** How often pages were viewed: a page, every row, or all of them at once. */

import type { Carried, WithResponse } from "./api_promise.js";
import type { Pages } from "./core.js";
import { callSite, type Fault, rejection } from "./errors.js";
import type { RequestOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { Operations, PageView, PageViews } from "./types.js";

/** Where a list goes on: plain JSON, to be kept and given back as `list({ cursor })`. */
export interface PageCursor {
  dateFrom?: string;
  dateTo?: string;
  limit: number;
  offset: number;
}

/** Parameters of a list: the range and the page, or the cursor of a list before. */
export type ListParams = Operations["pageViews.list"]["params"] | { cursor: PageCursor };

/** What can be said about a list. */
export type ListOptions = RequestOptions;

/** How far a list has come. */
export interface ListProgress {
  /** Rows so far. */
  rows: number;
  /** Pages so far, each of which cost one request. */
  pages: number;
  /** What the gateway says is left of the hour's requests; `null` when it does not say. */
  requestsLeftThisHour: number | null;
  /** Where the list goes on, to resume from if it fails now; `null` after the last page. */
  cursor: PageCursor | null;
}

/** What can be said about collecting every row. */
export interface AllOptions {
  /** Stop after this many rows. @default no limit */
  maxRows?: number | undefined;
  /** Called after every page. */
  onProgress?: ((progress: ListProgress) => void) | undefined;
}

/** One page of a list. */
export interface Page extends PageViews {
  /** Where the page begins. */
  readonly offset: number;
  /** Where the list goes on; `null` after the last page. */
  readonly cursor: PageCursor | null;
  /** The next page; `null` after the last. */
  nextPage(options?: ListOptions): Promise<Page | null>;
}

/** How often pages were viewed. */
export class PageViewsResource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists page views. Awaited, it is one page; iterated, it is every row of every page.
   * Nothing is sent until either is done.
   *
   * @example
   * ```ts
   * const page = await client.pageViews.list({ dateFrom: "2024-01-01", limit: 10 });
   * for await (const view of client.pageViews.list({ dateFrom: "2024-01-01" })) console.log(view.path);
   * ```
   */
  list(params: ListParams = {}, options: ListOptions = {}): PageViewList {
    return new PageViewList(this.#transport, params, options, callSite());
  }
}

/** A list of page views: a promise of one page, and an iterable of every row. */
export class PageViewList implements PromiseLike<Page>, AsyncIterable<PageView> {
  readonly #transport: Transport;
  readonly #params: ListParams;
  readonly #options: ListOptions;
  readonly #site: Error;
  #first: Promise<Turned> | undefined;

  /** @internal */
  constructor(transport: Transport, params: ListParams, options: ListOptions, site: Error) {
    this.#transport = transport;
    this.#params = params;
    this.#options = options;
    this.#site = site;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list is how one page is asked for.
  then<A = Page, B = never>(
    onFulfilled?: ((page: Page) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#one()
      .then(({ page }) => page)
      .then(onFulfilled, onRejected);
  }

  catch<B = never>(
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<Page | B> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Page> {
    return this.then().finally(onFinally);
  }

  /** One page, with the response that carried it. */
  async withResponse(): Promise<WithResponse<Page>> {
    const { page, response } = await this.#one();
    return { data: page, response, requestId: response.headers.get("x-request-id") };
  }

  /** Every row of every page, 250 a request unless `limit` says otherwise. */
  async *[Symbol.asyncIterator](): AsyncGenerator<PageView, void, void> {
    const run = new Run(this.#transport, this.#params, this.#options, this.#site);
    try {
      let next = run.turn();
      for (;;) {
        const turned = await next;
        if (turned === null) return;
        const { views } = turned.page;
        // Asking for the next page costs one of the hour's requests, so it is not done
        // before there is reason to think that it will be wanted.
        const ahead = views.length >> 1;
        let asked = false;
        for (let at = 0; at < views.length; at++) {
          if (at === ahead) {
            next = run.turn();
            next.catch(() => {}); // It is awaited, and thrown, after the rows before it.
            asked = true;
          }
          yield views[at] as PageView;
        }
        if (!asked) next = run.turn();
      }
    } finally {
      run.end();
    }
  }

  /** Every page, 250 rows each unless `limit` says otherwise. */
  async *pages(): AsyncGenerator<Page, void, void> {
    const run = new Run(this.#transport, this.#params, this.#options, this.#site);
    try {
      for (let turned = await run.turn(); turned !== null; turned = await run.turn())
        yield turned.page;
    } finally {
      run.end();
    }
  }

  /** Every row, collected. */
  async all(options: AllOptions = {}): Promise<PageView[]> {
    const most = options.maxRows ?? Number.POSITIVE_INFINITY;
    const run = new Run(this.#transport, this.#params, this.#options, this.#site);
    const rows: PageView[] = [];
    try {
      for (let pages = 1; rows.length < most; pages++) {
        const turned = await run.turn();
        if (turned === null) break;
        for (const view of turned.page.views) rows.push(view);
        options.onProgress?.({
          rows: Math.min(rows.length, most),
          pages,
          requestsLeftThisHour: requestsLeft(turned.response.headers),
          cursor: turned.page.cursor,
        });
      }
    } finally {
      run.end();
    }
    return rows.length > most ? rows.slice(0, most) : rows;
  }

  #one(): Promise<Turned> {
    this.#first ??= this.#transport.guarded(
      async (engine) => {
        const pages = engine.pageViews(paramsOf(this.#params), false);
        try {
          const turned = await turn(this.#transport, pages, this.#options);
          return turned as Turned; // A run has at least one page.
        } finally {
          pages.free();
        }
      },
      this.#site,
      this.#options.signal,
    );
    return this.#first;
  }
}

interface Turned {
  page: Page;
  response: Response;
}

/** A run through the pages, one request at a time, taken back when it is left. */
class Run {
  readonly #transport: Transport;
  /** The caller's own; a page that outlives the run goes on with these. */
  readonly #options: ListOptions;
  readonly #site: Error;
  readonly #left = new AbortController();
  readonly #pages: Promise<Pages>;
  #turning: Promise<Turned | null>;

  constructor(transport: Transport, params: ListParams, options: ListOptions, site: Error) {
    this.#transport = transport;
    this.#options = options;
    this.#site = site;
    this.#pages = transport.guarded((engine) => engine.pageViews(paramsOf(params), true), site);
    this.#turning = this.#pages.then(() => null);
    this.#turning.catch(() => {}); // The first turn says so.
    this.#follow(options.signal);
  }

  #follow(signal: AbortSignal | undefined): void {
    const abort = () => this.#left.abort(signal?.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true, signal: this.#left.signal });
  }

  /** The next page; `null` after the last. */
  turn(): Promise<Turned | null> {
    const { signal } = this.#left;
    this.#turning = this.#turning.then(async () => {
      try {
        return await turn(this.#transport, await this.#pages, this.#options, signal);
      } catch (reason) {
        throw rejection(reason, this.#site, signal);
      }
    });
    return this.#turning;
  }

  /** Leaves the run: a request under way is aborted. */
  end(): void {
    this.#left.abort();
    const free = () => this.#pages.then((pages) => pages.free());
    this.#turning.then(free, free).catch(() => {});
  }
}

/** Where a list begins. `null`, the cursor of a last page, would begin it anew. */
function paramsOf(params: ListParams): object {
  if (typeof params !== "object" || params === null || !("cursor" in params)) return params;
  const { cursor } = params;
  if (typeof cursor === "object" && cursor !== null) return cursor;
  const message = "cursor is required: there is none after the last page";
  throw { kind: "validation", message, field: "cursor", rule: "required" } satisfies Fault;
}

async function turn(
  transport: Transport,
  pages: Pages,
  options: ListOptions,
  signal = options.signal,
): Promise<Turned | null> {
  const turned: (Carried<PageViews> & { offset: number }) | undefined = await pages.next(
    transport.callOptions({ ...options, signal }),
  );
  if (turned === undefined) return null;
  const { data, response, offset } = turned;
  return { page: pageOf(transport, data, offset, pages.cursor, options), response };
}

function pageOf(
  transport: Transport,
  data: PageViews,
  offset: number,
  cursor: PageCursor | null,
  options: ListOptions,
): Page {
  const page = { ...data, offset, cursor };
  // Not enumerable, so that a page prints and serialises as its data.
  return Object.defineProperty(page, "nextPage", {
    value: async (own: ListOptions = options) => {
      if (cursor === null) return null;
      return new PageViewList(transport, { cursor }, own, callSite());
    },
  }) as Page;
}

/** The `r` of a `RateLimit` field (IETF draft on rate limit header fields). */
function requestsLeft(headers: Headers): number | null {
  const left = /(?:^|;)\s*r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  return left === undefined ? null : Number(left);
}
