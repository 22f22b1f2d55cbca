/** Paginated lists. Callers request one page, all pages, all rows, or an export. */

import type { WithResponse } from "./api_promise.js";
import { captureCallSite, locate, ValidationError } from "./errors.js";
import { abortOnReturn } from "./exchange.js";
import { openExport } from "./export.js";
import { MODE_EVERYTHING, MODE_PAGES } from "./generated/protocol.js";
import { ownProperties, refuseUnknown } from "./known.js";
import type {
  AllOptions,
  ExportOptions,
  ExportStream,
  ListName,
  ListOptions,
  ListPage,
  ListParams,
  ListPosition,
  PageResult,
  Row,
  Source,
} from "./list_types.js";
import { readLimits } from "./rate_limit.js";
import { rowsOf, Task } from "./task.js";
import type { Transport } from "./transport.js";

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
    transport: Transport,
    name: Name,
    params: ListParams<Name> = {} as ListParams<Name>,
    options?: ListOptions,
    site = captureCallSite(),
  ) {
    this.#source = { transport, name, params, options: ownProperties(options), site };
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

  /**
   * Yields every row of every page. Without a `limit`, pages have the maximum size.
   */
  [Symbol.asyncIterator](): AsyncGenerator<Row<Name>, void, void> {
    return abortOnReturn(this.#source.options, ({ signal }) => this.#rows(signal));
  }

  async *#rows(signal: AbortSignal | undefined): AsyncGenerator<Row<Name>, void, void> {
    const run = new PageIterator(this.#source, signal);
    try {
      let next: ReturnType<typeof run.next> | undefined;
      for (;;) {
        next ??= run.next();
        const result = await next;
        next = undefined;
        if (result === null) return;
        const { rows, offset } = result;
        // A page costs one request of the hourly budget. Prefetch it only after the caller has used
        // half of the rows, and never in lists by cursor.
        const half = offset === null ? undefined : rows.length >> 1;
        for (let at = 0; at < rows.length; at++) {
          yield rows[at] as Row<Name>;
          // The caller has requested the next row. Leaving the loop earlier sends no request.
          if (at + 1 === half) {
            next = run.next();
            next.catch(() => {}); // The loop throws this error after the rows before it.
          }
        }
      }
    } finally {
      run.end();
    }
  }

  /** Yields every page. Without a `limit`, pages have the maximum size. */
  pages(): AsyncGenerator<ListPage<Name>, void, void> {
    return abortOnReturn(this.#source.options, ({ signal }) => this.#pages(signal));
  }

  async *#pages(signal: AbortSignal | undefined): AsyncGenerator<ListPage<Name>, void, void> {
    const run = new PageIterator(this.#source, signal);
    try {
      for (let result = await run.next(); result !== null; result = await run.next())
        yield result.page;
    } finally {
      run.end();
    }
  }

  /**
   * Returns every row in one array, up to `maxRows`. Without a `limit`, pages have the maximum
   * size.
   *
   * @example
   * ```ts
   * const rows = await client.analytics.views().all({ maxRows: 1000 });
   * ```
   */
  async all(options: AllOptions<Name> = {}): Promise<Row<Name>[]> {
    const {
      maxRows: most = Number.POSITIVE_INFINITY,
      onProgress,
      ...others
    } = ownProperties(options);
    const rows: Row<Name>[] = [];
    const run = new PageIterator(this.#source, this.#source.options.signal);
    try {
      run.refuse(most, others);
      for (let pages = 1; rows.length < most; pages++) {
        const result = await run.next();
        if (result === null) break;
        for (const row of result.rows) rows.push(row);
        await onProgress?.({
          rows: Math.min(rows.length, most),
          pages,
          requestsLeftThisHour: readLimits(result.response.headers)[0]?.left ?? null,
          isMixed: result.page.isMixed,
          nextPosition:
            rows.length > most ? cutPosition(result, rows.length - most) : result.page.nextPosition,
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
   * A stream that ends without an error contains every row. If it fails, pass its `nextPosition` as
   * `resumeFrom` to another export. The two outputs joined equal an uninterrupted export, byte for byte.
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
    return openExport(this.#source, options, PageIterator);
  }

  #one(): Promise<PageResult<Name>> {
    const fetchOne = async () => {
      const run = new PageIterator(this.#source, this.#source.options.signal, MODE_PAGES);
      try {
        return (await run.next()) as PageResult<Name>; // A list has at least one page.
      } finally {
        run.end();
      }
    };
    this.#first ??= fetchOne();
    return this.#first;
  }
}

/** Iterates over the pages of a list, one request at a time. */
class PageIterator<Name extends ListName> {
  readonly #source: Source<Name>;
  readonly #signal: AbortSignal | undefined;
  readonly #pages: Promise<Task>;
  #fetching: Promise<PageResult<Name> | null>;

  constructor(source: Source<Name>, signal: AbortSignal | undefined, mode = MODE_EVERYTHING) {
    this.#source = source;
    this.#signal = signal;
    const { transport, name, site } = source;
    this.#pages = transport.run(
      (sender) => new Task(sender, name, mode, readParams(source)),
      site,
      signal,
    );
    this.#fetching = this.#pages.then(() => null);
    this.#fetching.catch(() => {}); // `next` throws this error.
  }

  /** Throws if an option of `all()` is invalid. */
  refuse(maxRows: number, others: object): void {
    try {
      refuseUnknown(others, []);
      checkMaxRows(maxRows);
    } catch (error) {
      throw locate(error, this.#source.site);
    }
  }

  async #fetch(): Promise<PageResult<Name> | null> {
    const { transport, name, options, site, readBody } = this.#source;
    const signal = this.#signal;
    try {
      const pages = await this.#pages;
      const delivery = await pages.next(
        transport.callOptions(name, { ...options, signal }, readBody),
      );
      const { begin, isMixed, repeated } = pages;
      if (begin === null || delivery === undefined) return null;
      const { data, response } = delivery;
      const rows = rowsOf(name, data) as Row<Name>[];
      const offset = (begin.offset as number | undefined) ?? null;
      const next = pages.position as ListPosition<Name> | null;
      // The decoder created this object for this page, so it can be changed.
      const page = data as ListPage<Name> & { offset?: number };
      if (offset !== null) page.offset = offset;
      // Not enumerable, so that logs and JSON show only the data.
      Object.defineProperties(Object.assign(page, { nextPosition: next }), {
        isMixed: { value: isMixed },
        nextPage: {
          value: async (own: ListOptions = options) =>
            next && new List(transport, name, { resumeFrom: next }, own),
        },
      });
      return { page, begin: begin as ListPosition<Name>, rows, repeated, offset, response };
    } catch (error) {
      throw locate(error, site, signal);
    }
  }

  /** Fetches the next page; after an error, the same page. Resolves to `null` after the last page. */
  next(): Promise<PageResult<Name> | null> {
    const fetchNext = () => this.#fetch();
    this.#fetching = this.#fetching.then(fetchNext, fetchNext);
    return this.#fetching;
  }

  /** Frees the task, after a pending request. */
  end(): void {
    const free = () => this.#pages.then((pages) => pages.free());
    this.#fetching.then(free, free).catch(() => {});
  }
}

/**
 * Returns the parameters of the first page.
 *
 * @throws {ValidationError} if `resumeFrom` is not an object. After the last page, it is `null`.
 */
function readParams<Name extends ListName>({ params }: Source<Name>): object {
  const { resumeFrom } = ownProperties(params) as { resumeFrom?: unknown };
  if (resumeFrom === undefined) return params;
  if (typeof resumeFrom === "object" && resumeFrom !== null) return resumeFrom;
  const message = "resumeFrom must be the position of a page that exists, not null";
  throw new ValidationError(message, "resumeFrom", "required");
}

/** @throws {ValidationError} unless `maxRows` is an integer from 0 or `Infinity` */
function checkMaxRows(maxRows: number): void {
  if (maxRows === Number.POSITIVE_INFINITY || (Number.isInteger(maxRows) && maxRows >= 0)) return;
  throw new ValidationError("maxRows must be an integer from 0", "maxRows", "page-size");
}

/** Returns the position to resume from if the last `cut` rows of a page were dropped. */
function cutPosition<Name extends ListName>(
  result: PageResult<Name>,
  cut: number,
): ListPosition<Name> {
  const { begin, rows, offset } = result;
  return offset === null ? begin : { ...begin, offset: offset + rows.length - cut };
}
