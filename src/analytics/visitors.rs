//! Visitors: the number of people and AI agents that read each page (docs/mintlify/analytics.md,
//! 4.5).

use crate::count::Count;
use crate::date::DateRange;
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::list::{Offset, PageSize};

record! {
    /// Visitors of the whole site in the date range. All numbers are approximate.
    pub struct VisitorTotals {
        /// People.
        pub human as "human": Option<Count>,
        /// AI agents.
        pub ai as "ai": Option<Count>,
        /// All visitors, each counted once.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// Visitors of one page in the date range. All numbers are approximate.
    pub struct PageVisitors {
        /// The page's path, such as `/guides/start`.
        pub path as "path": Option<String>,
        /// People.
        pub human as "human": Option<Count>,
        /// AI agents.
        pub ai as "ai": Option<Count>,
        /// All visitors, each counted once.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// One page of the list of visitors.
    pub struct Visitors {
        /// Visitors of the whole site in the date range, the same on every page.
        pub totals as "totals": Option<VisitorTotals>,
        /// The rows of this page: at most `limit`.
        pub visitors as "visitors": Vec<PageVisitors>,
        /// Whether more rows follow this page.
        pub has_more as "hasMore": Option<bool>,
    }
}

operation! {
    /// Lists the number of people and AI agents that visited each page.
    pub struct ListVisitors: Default -> Visitors {
        /// The date range.
        pub range: DateRange,
        /// Rows per page. Default: 50.
        pub limit: Option<PageSize>,
        /// Rows to skip. Default: 0.
        pub offset: Option<Offset>,
    }
    name: "analytics.visitors",
    route: Get "/v1/analytics/{projectId}/visitors",
    scope: ReadAnalytics,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::Offset { rows: "visitors" },
    link: Some("https://www.mintlify.com/docs/api/analytics/visitors"),
}
