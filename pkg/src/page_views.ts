/** Page views under the name that they had before `client.analytics`. */

import type { Analytics, PageViewList } from "./analytics.js";
import type { ListCursor, ListOptions, ListPage, ListParams } from "./list.js";

/** One page of page views. */
export type Page = ListPage<"analytics.views">;

/** Where a list of page views goes on. */
export type PageCursor = ListCursor<"analytics.views">;

/** How often pages were viewed: the same as `client.analytics.views`. */
export class PageViewsResource {
  readonly #analytics: Analytics;

  /** @internal */
  constructor(analytics: Analytics) {
    this.#analytics = analytics;
  }

  /**
   * Lists page views: the same as `client.analytics.views(params, options)`.
   *
   * @example
   * ```ts
   * for await (const view of client.pageViews.list({ dateFrom: "2024-01-01" })) console.log(view.path);
   * ```
   */
  list(params?: ListParams<"analytics.views">, options?: ListOptions): PageViewList {
    return this.#analytics.views(params, options);
  }
}
