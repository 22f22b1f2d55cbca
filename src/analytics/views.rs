//! Page views by people and by AI (docs/mintlify/analytics.md, 2.3 and 4.2).

use crate::count::Count;
use crate::date::DateRange;
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::list::{Offset, PageSize};

record! {
    /// Views of the whole site in the date range.
    pub struct ViewTotals {
        /// Views by people.
        pub human as "human": Option<Count>,
        /// Views by AI.
        pub ai as "ai": Option<Count>,
        /// All views.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// Views of one page in the date range.
    pub struct PageView {
        /// The page's path, such as `/guides/start`.
        pub path as "path": Option<String>,
        /// Views by people.
        pub human as "human": Option<Count>,
        /// Views by AI.
        pub ai as "ai": Option<Count>,
        /// All views.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// One page of the list of page views.
    pub struct PageViews {
        /// Views of the whole site in the date range, the same on every page.
        pub totals as "totals": Option<ViewTotals>,
        /// The rows of this page: at most `limit`.
        pub views as "views": Vec<PageView>,
        /// Whether more rows follow this page: an empty page is not necessarily the last. `null` if
        /// Mintlify does not say so; then a full page may have a next one.
        pub has_more as "hasMore": Option<bool>,
    }
}

operation! {
    /// Lists the views of each page, by people and by AI.
    pub struct ListPageViews: Default -> PageViews {
        /// The date range.
        pub range: DateRange,
        /// Rows per page. Default: 50.
        pub limit: Option<PageSize>,
        /// Rows to skip. Default: 0.
        pub offset: Option<Offset>,
    }
    name: "analytics.views",
    route: Get "/v1/analytics/{projectId}/views",
    scope: ReadAnalytics,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::Offset { rows: "views" },
    link: Some("https://www.mintlify.com/docs/api/analytics/views"),
}
