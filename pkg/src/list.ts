/** Lists: a page, every row of every page, or all of them at once. */

import type { WithResponse } from "./api_promise.js";
import { captureCallSite, locate, ValidationError } from "./errors.js";
import { follow, sleep } from "./exchange.js";
import { MODE_EVERYTHING, MODE_PAGES } from "./generated/protocol.js";
import { refuseUnknown } from "./known.js";
import type { RequestOptions } from "./options.js";
import { rowsOf, Task } from "./task.js";
import type { Transport } from "./transport.js";
import type { Lists, Operations } from "./types.js";

/** The name of an operation whose result is one page of a list. */
export type ListName = keyof Lists;

/** The type of a row of a list. */
export type Row<Name extends ListName> = Lists[Name]["row"];

/** Where a list goes on: plain JSON, to be kept and given back as `{ cursor }`. */
export type ListCursor<Name extends ListName> = Lists[Name]["cursor"];

/** Parameters of a list: those of the operation, or the cursor of a list before. */
export type ListParams<Name extends ListName = "analytics.views"> =
  | Operations[Name]["params"]
  | { cursor: ListCursor<Name> };

/** What can be said about a list. */
export type ListOptions = RequestOptions;

/** How far a list has come. */
export interface ListProgress<Name extends ListName = "analytics.views"> {
  /** Rows so far. */
  rows: number;
  /** Pages so far, each of which cost one request. */
  pages: number;
  /** What the gateway says is left of the hour's requests; `null` when it does not say. */
  requestsLeftThisHour: number | null;
  /**
   * Where the list goes on, to resume from if it fails now; `null` after the last row. Where `maxRows`
   * cuts a page of a list by cursor, that page comes again: there is no cursor within one.
   */
  cursor: ListCursor<Name> | null;
}

/** What can be said about collecting every row. */
export interface AllOptions<Name extends ListName = "analytics.views"> {
  /** Stop after this many rows. @default no limit */
  maxRows?: number | undefined;
  /** Called after every page. */
  onProgress?: ((progress: ListProgress<Name>) => void) | undefined;
}

/** What can be said about an export. */
export interface ExportOptions<Name extends ListName = "analytics.views"> {
  /**
   * `csv`: RFC 4180 in UTF-8, with a header and with a byte order mark for spreadsheets. Text that a
   * spreadsheet would run as a formula gets a leading apostrophe. `ndjson`: one row per line, as the
   * server wrote it.
   */
  format: "csv" | "ndjson";
  /**
   * Goes on where another export of this list stopped: its `cursor`. What comes has no header and
   * no byte order mark.
   * @default from the first row on
   */
  cursor?: ListCursor<Name> | undefined;
  /** Takes the export back: the stream fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * How long it may wait, in all, until a spent budget allows for requests again, in milliseconds: 0
   * to 86400000. A wait that would be longer is not begun: the stream fails with a `RateLimitError`.
   * @default 0
   */
  wait?: number | undefined;
}

/** An export. */
export interface ExportStream<Name extends ListName = "analytics.views">
  extends ReadableStream<Uint8Array> {
  /**
   * Where the list goes on after the chunk that was read last, as plain JSON: an open end of the range
   * is in it as it was when the export began. Before the first chunk it is the one that the export was
   * given, or `undefined`; after the last it is `null`.
   */
  readonly cursor: ListCursor<Name> | null | undefined;
}

/** What a page of a list has beside the operation's result. */
export interface PagePosition<Name extends ListName> {
  /** Where the list goes on; `null` after the last page. */
  readonly cursor: ListCursor<Name> | null;
  /** The next page; `null` after the last. */
  nextPage(options?: ListOptions): Promise<ListPage<Name> | null>;
}

/** One page of a list. Where pages are counted by rows, `offset` is where it begins. */
export type ListPage<Name extends ListName> = Operations[Name]["result"] &
  PagePosition<Name> &
  (Lists[Name] extends { offset: number } ? { readonly offset: number } : unknown);

/**
 * A list: a promise of one page, and an iterable of every row. Nothing is sent until it is awaited
 * or iterated.
 */
export class List<Name extends ListName>
  implements PromiseLike<ListPage<Name>>, AsyncIterable<Row<Name>>
{
  readonly #source: Source<Name>;
  #first: Promise<PageResult<Name>> | undefined;

  /** @internal */
  constructor(
    transport: Carrier,
    name: Name,
    params: ListParams<Name>,
    options: ListOptions,
    site: Error,
  ) {
    this.#source = { transport, name, params, options, site };
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list is how one page is asked for.
  then<A = ListPage<Name>, B = never>(
    onFulfilled?: ((page: ListPage<Name>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#one()
      .then(({ page }) => page)
      .then(onFulfilled, onRejected);
  }

  catch<B = never>(
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<ListPage<Name> | B> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<ListPage<Name>> {
    return this.then().finally(onFinally);
  }

  /** One page, with the response that carried it. */
  async withResponse(): Promise<WithResponse<ListPage<Name>>> {
    const { page, response } = await this.#one();
    return { data: page, response, requestId: response.headers.get("x-request-id") };
  }

  /** Every row of every page, each page as large as it may be unless `limit` says otherwise. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row<Name>, void, void> {
    const run = new PageIterator(this.#source);
    try {
      let next: ReturnType<typeof run.next> | undefined;
      for (;;) {
        next ??= run.next();
        const result = await next;
        next = undefined;
        if (result === null) return;
        const { rows, offset } = result;
        // Asking for the next page costs one of the hour's requests, so it is not done before
        // there is reason to think that it will be wanted. A page by cursor is asked for at last.
        const ahead = offset === null ? -1 : rows.length >> 1;
        for (let at = 0; at < rows.length; at++) {
          if (at === ahead) {
            next = run.next();
            next.catch(() => {}); // It is awaited, and thrown, after the rows before it.
          }
          yield rows[at] as Row<Name>;
        }
      }
    } finally {
      run.end();
    }
  }

  /** Every page, as large as it may be unless `limit` says otherwise. */
  async *pages(): AsyncGenerator<ListPage<Name>, void, void> {
    const run = new PageIterator(this.#source);
    try {
      for (let result = await run.next(); result !== null; result = await run.next())
        yield result.page;
    } finally {
      run.end();
    }
  }

  /** Every row, collected. */
  async all(options: AllOptions<Name> = {}): Promise<Row<Name>[]> {
    const { maxRows: most = Number.POSITIVE_INFINITY, onProgress, ...others } = options;
    const rows: Row<Name>[] = [];
    const run = new PageIterator(this.#source);
    try {
      run.refuse(others);
      for (let pages = 1; rows.length < most; pages++) {
        const result = await run.next();
        if (result === null) break;
        for (const row of result.rows) rows.push(row);
        onProgress?.({
          rows: Math.min(rows.length, most),
          pages,
          requestsLeftThisHour: requestsLeft(result.response.headers),
          cursor: rows.length > most ? cutCursor(result, rows.length - most) : result.page.cursor,
        });
      }
    } finally {
      run.end();
    }
    return rows.length > most ? rows.slice(0, most) : rows;
  }

  /**
   * Every row of every page as a stream of bytes, a page a chunk: CSV or NDJSON. Nothing is sent until
   * the stream is read, and no page is asked for before the one before it has been read.
   *
   * A stream that ends has every row. One that fails says by its `cursor` where to go on: an export with
   * that cursor gives what is missing, and both joined are the whole, byte for byte.
   *
   * @example
   * ```ts
   * const stream = client.analytics.views({ dateFrom: "2024-01-01" }).export({ format: "csv" });
   * await writeFile("views.csv", stream);
   * ```
   */
  export(options: ExportOptions<Name>): ExportStream<Name> {
    const left = new AbortController();
    const stream: ReadableStream<Uint8Array> & { cursor?: ExportStream<Name>["cursor"] } =
      new ReadableStream(
        {
          pull: (controller) =>
            import("./export.js").then((module) =>
              module.pull(controller, stream, this.#source, options, left, {
                List,
                ValidationError,
                follow,
                sleep,
              }),
            ),
          cancel: () => left.abort(),
        },
        { highWaterMark: 0 },
      );
    stream.cursor = options?.cursor;
    return stream as ExportStream<Name>;
  }

  #one(): Promise<PageResult<Name>> {
    const { transport, site, options } = this.#source;
    this.#first ??= transport.run(
      async (sender) => {
        const { name } = this.#source;
        const pages = new Task(sender, name, MODE_PAGES, readParams(this.#source));
        try {
          const result = await fetchPage(this.#source, pages, options.signal);
          return result as PageResult<Name>; // A list has at least one page.
        } finally {
          pages.free();
        }
      },
      site,
      options.signal,
    );
    return this.#first;
  }
}

/**
 * What a list needs of a client's transport.
 *
 * @internal
 */
export type Carrier = Pick<Transport, "run" | "callOptions">;

/**
 * What a list is made of.
 *
 * @internal
 */
export interface Source<Name extends ListName> {
  readonly transport: Carrier;
  readonly name: Name;
  readonly params: ListParams<Name>;
  /** The caller's own; a page that outlives a run goes on with these. */
  readonly options: ListOptions;
  readonly site: Error;
}

interface PageResult<Name extends ListName> {
  /** Where this page begins. */
  begin: ListCursor<Name>;
  page: ListPage<Name>;
  rows: Row<Name>[];
  offset: number | null;
  response: Response;
}

/** A run through the pages, one request at a time, taken back when it is left. */
class PageIterator<Name extends ListName> {
  readonly #source: Source<Name>;
  readonly #left = new AbortController();
  readonly #leave: () => void;
  readonly #pages: Promise<Task>;
  #fetching: Promise<PageResult<Name> | null>;

  constructor(source: Source<Name>) {
    this.#source = source;
    const { transport, name, site, options } = source;
    this.#pages = transport.run(
      (sender) => new Task(sender, name, MODE_EVERYTHING, readParams(source)),
      site,
    );
    this.#fetching = this.#pages.then(() => null);
    this.#fetching.catch(() => {}); // The first page says so.
    this.#leave = follow(this.#left, options.signal);
  }

  /** Refuses options that nobody knows. */
  refuse(options: object): void {
    try {
      refuseUnknown(options, []);
    } catch (error) {
      throw locate(error, this.#source.site);
    }
  }

  /** The next page; `null` after the last. */
  next(): Promise<PageResult<Name> | null> {
    const { signal } = this.#left;
    this.#fetching = this.#fetching.then(async () => {
      // A caller who leaves at this very row has done so by then, and nothing is sent.
      for (let turns = 5; turns--; ) await null;
      try {
        return await fetchPage(this.#source, await this.#pages, signal);
      } catch (error) {
        throw locate(error, this.#source.site, signal);
      }
    });
    return this.#fetching;
  }

  /** Leaves the run: a request under way is aborted. */
  end(): void {
    this.#leave();
    this.#left.abort();
    const free = () => this.#pages.then((pages) => pages.free());
    this.#fetching.then(free, free).catch(() => {});
  }
}

/** Where a list begins. `null`, the cursor of a last page, would begin it again. */
function readParams<Name extends ListName>({ params }: Source<Name>): object {
  const cursor: unknown = (params as { cursor?: unknown } | null | undefined)?.cursor;
  if (typeof cursor !== "object") return params as object;
  if (cursor !== null) return cursor;
  const message = "cursor must be that of a page: after the last one there is none";
  throw new ValidationError(message, "cursor", "text");
}

async function fetchPage<Name extends ListName>(
  source: Source<Name>,
  pages: Task,
  signal: AbortSignal | undefined,
): Promise<PageResult<Name> | null> {
  const { transport, name, options } = source;
  const call = transport.callOptions({ ...options, signal });
  const begin = pages.cursor;
  const delivery = await pages.next(call);
  if (begin === null || delivery === undefined) return null;
  const { data, response } = delivery;
  const rows = rowsOf(name, data) as Row<Name>[];
  const offset = (begin.offset as number | undefined) ?? null;
  const cursor = pages.cursor as ListCursor<Name> | null;
  const page = makePage(source, data, offset, cursor);
  return { page, begin: begin as ListCursor<Name>, rows, offset, response };
}

/** Where a list goes on when the last `cut` rows of a page are not taken. */
function cutCursor<Name extends ListName>(result: PageResult<Name>, cut: number): ListCursor<Name> {
  const { begin, rows, offset } = result;
  return offset === null ? begin : { ...begin, offset: offset + rows.length - cut };
}

function makePage<Name extends ListName>(
  { transport, name, options }: Source<Name>,
  data: object,
  offset: number | null,
  cursor: ListCursor<Name> | null,
): ListPage<Name> {
  // The data is this page's alone, and was made for it.
  const page = data as { offset?: number; cursor?: ListCursor<Name> | null };
  if (offset !== null) page.offset = offset;
  page.cursor = cursor;
  // Not enumerable, so that a page prints and serialises as its data.
  return Object.defineProperty(page, "nextPage", {
    value: async (own: ListOptions = options) => {
      if (cursor === null) return null;
      return new List(transport, name, { cursor }, own, captureCallSite());
    },
  }) as ListPage<Name>;
}

/** The `r` of a `RateLimit` field (IETF draft on rate limit header fields). */
function requestsLeft(headers: Headers): number | null {
  const left = /(?:^|;)\s*r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  return left === undefined ? null : Number(left);
}
