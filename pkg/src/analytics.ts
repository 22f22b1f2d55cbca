/** The client's methods for Mintlify's analytics reports and the gateway's daily archive. */

import type { ApiPromise } from "./api_promise.js";
import { List } from "./list.js";
import type { ListOptions, ListParams } from "./list_types.js";
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
 * Reports on how people and AI agents use your documentation. Mintlify's reports share one budget:
 * 100 requests per hour for the whole organization. Responses from a gateway's cache or archive
 * don't count.
 */
export class Analytics {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the number of views of each page, by people and by AI agents.
   *
   * Await the list for one page, or iterate over it for every row of every page. It sends no
   * request before that.
   *
   * @example
   * ```ts
   * const page = await client.analytics.views({ dateFrom: "2024-01-01", limit: 10 });
   * for await (const view of client.analytics.views({ dateFrom: "2024-01-01" })) console.log(view.path);
   * ```
   */
  views(params?: ListParams<"analytics.views">, options?: ListOptions): PageViewsList {
    return new List(this.#transport, "analytics.views", params, options);
  }

  /**
   * Lists views per day, week or month of the whole site, one page, or all pages below a path.
   *
   * The data comes from the gateway's archive and does not use the analytics budget. Each page of
   * the list has the property `missing`, the days without data. If the gateway has no archive, this
   * throws an `ApiError` with status 501.
   *
   * Await the list for one page, or iterate over it for every row of every page.
   *
   * @example
   * ```ts
   * const january = { dateFrom: "2024-01-01", dateTo: "2024-02-01" };
   * const { views, missing } = await client.analytics.dailyViews(january);
   * ```
   */
  dailyViews(params: ListParams<"analytics.dailyViews">, options?: ListOptions): DailyViewsList {
    return new List(this.#transport, "analytics.dailyViews", params, options);
  }

  /**
   * Lists every page with views in a range of days, in order of their paths.
   *
   * The data comes from the gateway's archive and does not use the analytics budget. Each page of
   * the list has the property `missing`, the days without data. If the gateway has no archive, this
   * throws an `ApiError` with status 501.
   *
   * Await the list for one page, or iterate over it for every row of every page.
   *
   * @example
   * ```ts
   * const january = { dateFrom: "2024-01-01", dateTo: "2024-02-01" };
   * const rows = await client.analytics.archivedViews(january).all();
   * ```
   */
  archivedViews(
    params: ListParams<"analytics.archivedViews">,
    options?: ListOptions,
  ): ArchivedViewsList {
    return new List(this.#transport, "analytics.archivedViews", params, options);
  }

  /**
   * Returns which days the gateway's archive contains, which are missing, and when it will be
   * complete.
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
   * Estimates how many requests and hours a backfill of the archive takes, without starting it.
   * The token needs the scope `gateway:operate`.
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
   * Starts a backfill of the archive and returns its estimate. The gateway fetches every missing
   * day from `dateFrom` on. The token needs the scope `gateway:operate`.
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
   * Lists the number of people and AI agents that visited each page. Await the list for one page,
   * or iterate over it for every row.
   *
   * @example
   * ```ts
   * for await (const { path, total } of client.analytics.visitors()) console.log(path, total);
   * ```
   */
  visitors(params?: ListParams<"analytics.visitors">, options?: ListOptions): VisitorsList {
    return new List(this.#transport, "analytics.visitors", params, options);
  }

  /**
   * Lists feedback from readers and AI agents. The `source` of an entry determines its other
   * properties.
   *
   * @example
   * ```ts
   * const bad = await client.analytics.feedback({ source: "contextual", status: "pending" }).all();
   * ```
   */
  feedback(params?: ListParams<"analytics.feedback">, options?: ListOptions): FeedbackList {
    return new List(this.#transport, "analytics.feedback", params, options);
  }

  /**
   * Returns the votes for and against each page, for at most `limit` pages: by default 10, at most
   * 100. If `hasMore` is `true`, Mintlify has omitted further pages.
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
   * Lists the search queries of readers, most frequent first.
   *
   * @example
   * ```ts
   * for await (const { searchQuery, hits } of client.analytics.searches()) console.log(searchQuery, hits);
   * ```
   */
  searches(params?: ListParams<"analytics.searches">, options?: ListOptions): SearchesList {
    return new List(this.#transport, "analytics.searches", params, options);
  }

  /**
   * Lists the questions that readers asked the assistant, with its responses. Conversations are
   * personal data: the token needs the scope `analytics:conversations`.
   *
   * @example
   * ```ts
   * for await (const { query } of client.analytics.conversations({ dateFrom })) console.log(query);
   * ```
   */
  conversations(
    params?: ListParams<"analytics.conversations">,
    options?: ListOptions,
  ): ConversationsList {
    return new List(this.#transport, "analytics.conversations", params, options);
  }

  /**
   * Returns the messages of one conversation. Conversations are personal data: the token needs the
   * scope `analytics:conversations`.
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
   * Counts the questions to the assistant by their origin.
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

/** A list of page views. Await it for one page, or iterate over it for every row. */
export interface PageViewsList extends List<"analytics.views"> {}
/** A list of views per day, week or month. Await it for one page, or iterate over it for every row. */
export interface DailyViewsList extends List<"analytics.dailyViews"> {}
/** A list of archived page views. Await it for one page, or iterate over it for every row. */
export interface ArchivedViewsList extends List<"analytics.archivedViews"> {}
/** A list of visitors per page. Await it for one page, or iterate over it for every row. */
export interface VisitorsList extends List<"analytics.visitors"> {}
/** A list of feedback. Await it for one page, or iterate over it for every row. */
export interface FeedbackList extends List<"analytics.feedback"> {}
/** A list of search queries. Await it for one page, or iterate over it for every row. */
export interface SearchesList extends List<"analytics.searches"> {}
/** A list of conversations. Await it for one page, or iterate over it for every row. */
export interface ConversationsList extends List<"analytics.conversations"> {}
