/** Paginated lists. */

import type { WithResponse } from "./api_promise.js";
import { captureCallSite, locate, ValidationError } from "./errors.js";
import { follow, sleep } from "./exchange.js";
import { MODE_EVERYTHING, MODE_PAGES } from "./generated/protocol.js";
import { refuseUnknown } from "./known.js";
import type { RequestOptions } from "./options.js";
import { rowsOf, Task } from "./task.js";
import type { Transport } from "./transport.js";
import type { Lists, Operations } from "./types.js";

/** The name of an operation that returns a page of a list. */
export type ListName = keyof Lists;

/** The type of a row of a list. */
export type Row<Name extends ListName> = Lists[Name]["row"];

/** A position in a list, as plain JSON. Store it, and pass it as `{ cursor }` to resume from there. */
export type ListCursor<Name extends ListName> = Lists[Name]["cursor"];

/** The parameters of a list: the operation's parameters, or the cursor of an earlier list. */
export type ListParams<Name extends ListName> =
  | Operations[Name]["params"]
  | { cursor: ListCursor<Name> };

/** Options of a list. Timeouts and retries apply to each page separately. */
export type ListOptions = RequestOptions;

/** The progress of {@link List.all}. */
export interface ListProgress<Name extends ListName> {
  /** Number of rows received. */
  rows: number;
  /** Number of pages received. Each page is one request. */
  pages: number;
  /** Requests left in the hourly budget; `null` if the response has no `RateLimit` header. */
  requestsLeftThisHour: number | null;
  /**
   * The position after these rows, to resume from after an error. `null` after the last row.
   *
   * If `maxRows` ends within a page, lists without `offset` resume at the start of that page.
   */
  cursor: ListCursor<Name> | null;
}

/** Options of {@link List.all}. */
export interface AllOptions<Name extends ListName> {
  /** Maximum number of rows. @default no limit */
  maxRows?: number | undefined;
  /** Called after every page. */
  onProgress?: ((progress: ListProgress<Name>) => void) | undefined;
}

/** Options of {@link List.export}. */
export interface ExportOptions<Name extends ListName> {
  /**
   * The format of the export.
   *
   * - `csv`: RFC 4180 in UTF-8, with a header, and with a byte order mark for spreadsheets. Strings
   *   that a spreadsheet would run as a formula start with an apostrophe.
   * - `ndjson`: one JSON object per line. Numbers and escapes keep the server's spelling.
   */
  format: "csv" | "ndjson";
  /**
   * The `cursor` of an earlier export of this list, to resume after it. A resumed CSV has no header
   * and no byte order mark.
   * @default the first row
   */
  cursor?: ListCursor<Name> | undefined;
  /** Aborts the export. The stream fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Maximum total time to wait after 429 responses, in milliseconds: 0 to 86400000 (one day). If the
   * next `Retry-After` exceeds the remaining time, the stream fails with a `RateLimitError`.
   * @default 0
   */
  wait?: number | undefined;
}

/** A byte stream of all rows of a list. */
export interface ExportStream<Name extends ListName> extends ReadableStream<Uint8Array> {
  /**
   * The position after the last chunk read, as plain JSON. Before the first chunk, it is the `cursor`
   * option. After the last chunk, it is `null`.
   *
   * If you omitted `dateTo`, the cursor contains the value that the export started with.
   */
  readonly cursor: ListCursor<Name> | null | undefined;
}

/** Properties of a page in addition to the operation's result. */
export interface PagePosition<Name extends ListName> {
  /** The position of the next page; `null` on the last page. */
  readonly cursor: ListCursor<Name> | null;
  /** Fetches the next page. Resolves to `null` on the last page. */
  nextPage(options?: ListOptions): Promise<ListPage<Name> | null>;
}

/** A page of a list. In lists by offset, `offset` is the position of its first row. */
export type ListPage<Name extends ListName> = Operations[Name]["result"] &
  PagePosition<Name> &
  (Lists[Name] extends { offset: number } ? { readonly offset: number } : unknown);

/**
 * A list. Await it for one page, or iterate over it for every row. It sends no request before that.
 *
 * @example
 * ```ts
 * const page = await client.analytics.views({ limit: 10 });
 * for await (const view of client.analytics.views()) console.log(view.path);
 * ```
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

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list requests one page.
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

  /** Returns one page together with its HTTP response. */
  async withResponse(): Promise<WithResponse<ListPage<Name>>> {
    const { page, response } = await this.#one();
    return { data: page, response, requestId: response.headers.get("x-request-id") };
  }

  /** Yields every row of every page. Pages have the maximum size, unless you set `limit`. */
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
        // A page costs one request of the hourly budget. So prefetch it only after half of the rows
        // were used, and never in lists by cursor.
        const ahead = offset === null ? -1 : rows.length >> 1;
        for (let at = 0; at < rows.length; at++) {
          if (at === ahead) {
            next = run.next();
            next.catch(() => {}); // The loop throws this error after the rows before it.
          }
          yield rows[at] as Row<Name>;
        }
      }
    } finally {
      run.end();
    }
  }

  /** Yields every page. Pages have the maximum size, unless you set `limit`. */
  async *pages(): AsyncGenerator<ListPage<Name>, void, void> {
    const run = new PageIterator(this.#source);
    try {
      for (let result = await run.next(); result !== null; result = await run.next())
        yield result.page;
    } finally {
      run.end();
    }
  }

  /**
   * Returns every row in one array. Pages have the maximum size, unless you set `limit`.
   *
   * @example
   * ```ts
   * const rows = await client.analytics.views().all({ maxRows: 1000 });
   * ```
   */
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
   * Returns every row as a byte stream of CSV or NDJSON. Each page is a chunk. The stream requests a
   * page only when you read it.
   *
   * A stream that ends without an error contains every row. If it fails, pass its `cursor` to another
   * export. The two outputs joined equal an uninterrupted export, byte for byte.
   *
   * Invalid options make the stream fail with a `ValidationError` on the first read.
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
 * The methods of the transport that a list uses.
 *
 * @internal
 */
export type Carrier = Pick<Transport, "run" | "callOptions">;

/**
 * The arguments of a list.
 *
 * @internal
 */
export interface Source<Name extends ListName> {
  readonly transport: Carrier;
  readonly name: Name;
  readonly params: ListParams<Name>;
  /** The caller's options. `nextPage` uses them by default, without the signal of an iteration. */
  readonly options: ListOptions;
  readonly site: Error;
}

interface PageResult<Name extends ListName> {
  /** The position of this page. */
  begin: ListCursor<Name>;
  page: ListPage<Name>;
  rows: Row<Name>[];
  offset: number | null;
  response: Response;
}

/** Iterates over the pages of a list, one request at a time. */
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
    this.#fetching.catch(() => {}); // `next` throws this error.
    this.#leave = follow(this.#left, options.signal);
  }

  /** Throws if `options` is not empty. */
  refuse(options: object): void {
    try {
      refuseUnknown(options, []);
    } catch (error) {
      throw locate(error, this.#source.site);
    }
  }

  /** Fetches the next page. Resolves to `null` after the last page. */
  next(): Promise<PageResult<Name> | null> {
    const { signal } = this.#left;
    this.#fetching = this.#fetching.then(async () => {
      // Yield a few microtasks, so that a caller who leaves the loop at this row causes no request.
      for (let turns = 5; turns--; ) await null;
      try {
        return await fetchPage(this.#source, await this.#pages, signal);
      } catch (error) {
        throw locate(error, this.#source.site, signal);
      }
    });
    return this.#fetching;
  }

  /** Ends the iteration, and aborts a pending request. */
  end(): void {
    this.#leave();
    this.#left.abort();
    const free = () => this.#pages.then((pages) => pages.free());
    this.#fetching.then(free, free).catch(() => {});
  }
}

/** Returns the start of a list. Rejects the cursor `null`, which would restart the list. */
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

/** Returns the position to resume from if the last `cut` rows of a page were dropped. */
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
  // The decoder created this object for this page, so it can be changed.
  const page = data as { offset?: number; cursor?: ListCursor<Name> | null };
  if (offset !== null) page.offset = offset;
  page.cursor = cursor;
  // Not enumerable, so that logs and JSON show only the data.
  return Object.defineProperty(page, "nextPage", {
    value: async (own: ListOptions = options) => {
      if (cursor === null) return null;
      return new List(transport, name, { cursor }, own, captureCallSite());
    },
  }) as ListPage<Name>;
}

/** Returns `r` of the `RateLimit` field (IETF draft on rate limit header fields). */
function requestsLeft(headers: Headers): number | null {
  const left = /(?:^|;)\s*r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  return left === undefined ? null : Number(left);
}
