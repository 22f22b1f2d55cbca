/** The reports of the platform's analytics. */

import { ApiPromise } from "./api_promise.js";
import { captureCallSite, toDecodeError, toRequiredError } from "./errors.js";
import { List, type ListOptions, type ListParams } from "./list.js";
import type { RequestOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type {
  CallerStats,
  ConversationThread,
  DailyViews,
  FeedbackByPage,
  Operations,
} from "./types.js";

/** Which days of the archive, and of which pages. */
export interface DailyViewsParams {
  /** The first day that counts: `YYYY-MM-DD`, in UTC. */
  dateFrom: string;
  /** The first day that does not count any more: `YYYY-MM-DD`, in UTC; at most 3660 days later. */
  dateTo: string;
  /** Only this page: its path as the platform reports it, as in `/guides/start`. */
  path?: string | undefined;
  /** Only pages whose path begins with these whole segments, as in `/guides`. */
  prefix?: string | undefined;
  /** What is counted together. A week begins on Monday. @default "day" */
  group?: "day" | "week" | "month" | undefined;
  /** Rows per page: 1 to 1000. @default 366 */
  limit?: number | undefined;
  /** Where to go on: the `nextCursor` of the page before. */
  cursor?: string | undefined;
}

/**
 * Reports of who reads the documentation. All of them count against one budget: 100 requests in
 * any hour for the whole organisation. A gateway answers what it has from its cache.
 */
export class Analytics {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists how often each page was viewed, by people and by AI. Awaited, it is one page; iterated,
   * it is every row of every page. Nothing is sent until either is done.
   *
   * @example
   * ```ts
   * const page = await client.analytics.views({ dateFrom: "2024-01-01", limit: 10 });
   * for await (const view of client.analytics.views({ dateFrom: "2024-01-01" })) console.log(view.path);
   * ```
   */
  views(params: ListParams<"analytics.views"> = {}, options: ListOptions = {}): PageViewList {
    return new List(this.#transport, "analytics.views", params, options, captureCallSite());
  }

  /**
   * Reads from the gateway's daily archive how often the site, a page or the pages below a path were
   * viewed on each day, week or month. It costs no request of the hour's budget. A gateway without an
   * archive answers 501, an `ApiError`; the platform itself has no days.
   *
   * @example
   * ```ts
   * const { views, missing } = await client.analytics.dailyViews({ dateFrom: "2024-01-01", dateTo: "2024-02-01" });
   * ```
   */
  dailyViews(params: DailyViewsParams, options: RequestOptions = {}): ApiPromise<DailyViews> {
    const site = captureCallSite();
    const errors = { toDecodeError, toRequiredError };
    return new ApiPromise(
      import("./daily_views.js").then((part) =>
        part.readDailyViews(this.#transport, params, options, site, errors),
      ),
    );
  }

  /**
   * Lists how many people and AI agents visited each page: a page when awaited, every row when
   * iterated.
   *
   * @example
   * ```ts
   * for await (const { path, total } of client.analytics.visitors()) console.log(path, total);
   * ```
   */
  visitors(
    params: ListParams<"analytics.visitors"> = {},
    options: ListOptions = {},
  ): List<"analytics.visitors"> {
    return new List(this.#transport, "analytics.visitors", params, options, captureCallSite());
  }

  /**
   * Lists what readers said of the pages; `source` says of which kind an entry is.
   *
   * @example
   * ```ts
   * const bad = await client.analytics.feedback({ source: "contextual", status: "pending" }).all();
   * ```
   */
  feedback(
    params: ListParams<"analytics.feedback"> = {},
    options: ListOptions = {},
  ): List<"analytics.feedback"> {
    return new List(this.#transport, "analytics.feedback", params, options, captureCallSite());
  }

  /**
   * Reads how often readers approved of each page: at most 100 pages. `hasMore` says that there
   * are others, which the platform does not give.
   *
   * @example
   * ```ts
   * const { feedback } = await client.analytics.feedbackByPage({ limit: 100 });
   * ```
   */
  feedbackByPage(
    params: Operations["analytics.feedbackByPage"]["params"] = {},
    options?: RequestOptions,
  ): ApiPromise<FeedbackByPage> {
    return this.#transport.call("analytics.feedbackByPage", params, options);
  }

  /**
   * Lists what readers searched for, the most frequent first.
   *
   * @example
   * ```ts
   * for await (const { searchQuery, hits } of client.analytics.searches()) console.log(searchQuery, hits);
   * ```
   */
  searches(
    params: ListParams<"analytics.searches"> = {},
    options: ListOptions = {},
  ): List<"analytics.searches"> {
    return new List(this.#transport, "analytics.searches", params, options, captureCallSite());
  }

  /**
   * Lists what readers asked the assistant, and what it responded. It is personal data: a token
   * needs the scope `analytics:conversations`.
   *
   * @example
   * ```ts
   * for await (const { query } of client.analytics.conversations({ dateFrom })) console.log(query);
   * ```
   */
  conversations(
    params: ListParams<"analytics.conversations"> = {},
    options: ListOptions = {},
  ): List<"analytics.conversations"> {
    return new List(this.#transport, "analytics.conversations", params, options, captureCallSite());
  }

  /**
   * Reads one conversation, message by message. As with {@link conversations}, it is personal data.
   *
   * @example
   * ```ts
   * const { messages } = await client.analytics.conversation("01J9Z3K4M5N6P7Q8R9S0T1V2W3");
   * ```
   */
  conversation(
    threadId: ConversationThread["threadId"],
    options?: RequestOptions,
  ): ApiPromise<ConversationThread> {
    return this.#transport.call("analytics.conversation", { threadId }, options);
  }

  /**
   * Counts what the assistant was asked, by where the questions came from.
   *
   * @example
   * ```ts
   * const { web, api, total } = await client.analytics.callerStats({ dateFrom: "2024-01-01" });
   * ```
   */
  callerStats(
    params: Operations["analytics.callerStats"]["params"] = {},
    options?: RequestOptions,
  ): ApiPromise<CallerStats> {
    return this.#transport.call("analytics.callerStats", params, options);
  }
}

/** A list of page views: a promise of one page, and an iterable of every row. */
export type PageViewList = List<"analytics.views">;
