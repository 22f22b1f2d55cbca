/** The former interface of `client.analytics.views`. */

import type { Analytics, PageViewList } from "./analytics.js";
import type { ListCursor, ListOptions, ListPage, ListParams } from "./list.js";

/** A page of page views. */
export type Page = ListPage<"analytics.views">;

/** A position in a list of page views. */
export type PageCursor = ListCursor<"analytics.views">;

/** The former name of `client.analytics.views`. */
export class PageViewsResource {
  readonly #analytics: Analytics;

  /** @internal */
  constructor(analytics: Analytics) {
    this.#analytics = analytics;
  }

  /**
   * Lists page views. Same as `client.analytics.views(params, options)`.
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
