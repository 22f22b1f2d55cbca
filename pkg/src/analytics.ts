/** The reports of the platform's analytics. */

import type { ApiPromise } from "./api_promise.js";
import { captureCallSite } from "./errors.js";
import { List, type ListOptions, type ListParams } from "./list.js";
import type { RequestOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type {
  ArchiveStatus,
  Backfill,
  CallerStats,
  ConversationThread,
  FeedbackByPage,
  Operations,
} from "./types.js";

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
   * Lists views per day, week or month from the gateway's archive: of the site, a page, or the pages
   * below a path. It does not use the analytics budget. Awaited, it is one page; iterated, it is every
   * row of every page. Days without data are in the page's `missing`. A gateway without an archive
   * throws an `ApiError` with status 501.
   *
   * @example
   * ```ts
   * const january = { dateFrom: "2024-01-01", dateTo: "2024-02-01" };
   * const { views, missing } = await client.analytics.dailyViews(january);
   * ```
   */
  dailyViews(params: ListParams<"analytics.dailyViews">, options: ListOptions = {}): DailyViewList {
    return new List(this.#transport, "analytics.dailyViews", params, options, captureCallSite());
  }

  /**
   * Reads what the gateway's archive contains, what is missing, and when it will be complete.
   *
   * @example
   * ```ts
   * const { complete, missing, completeAt } = await client.analytics.archiveStatus();
   * ```
   */
  archiveStatus(options?: RequestOptions): ApiPromise<ArchiveStatus> {
    return this.#transport.call("analytics.archiveStatus", {}, options);
  }

  /**
   * Estimates the requests and hours that a backfill of the archive takes, without starting it. The
   * token needs the scope `gateway:operate`.
   *
   * @example
   * ```ts
   * const { requests, hours } = await client.analytics.estimateBackfill({ dateFrom: "2024-01-01" });
   * ```
   */
  estimateBackfill(
    params: Operations["analytics.estimateBackfill"]["params"],
    options?: RequestOptions,
  ): ApiPromise<Backfill> {
    return this.#transport.call("analytics.estimateBackfill", params, options);
  }

  /**
   * Starts a backfill of the archive: the gateway fetches every day from `dateFrom` that is missing.
   * Returns the estimate. The token needs the scope `gateway:operate`.
   *
   * @example
   * ```ts
   * const { completeAt } = await client.analytics.beginBackfill({ dateFrom: "2024-01-01" });
   * ```
   */
  beginBackfill(
    params: Operations["analytics.beginBackfill"]["params"],
    options?: RequestOptions,
  ): ApiPromise<Backfill> {
    return this.#transport.call("analytics.beginBackfill", params, options);
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
/** A list of daily views: a promise of one page, and an iterable of every day, week or month. */
export type DailyViewList = List<"analytics.dailyViews">;
