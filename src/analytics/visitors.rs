//! Visitors: the number of people and AI agents that read each page (docs/platform.md, 4.5).

use crate::count::Count;
use crate::date::DateRange;
use crate::declaration::{Pagination, Policy};
use crate::list::{Offset, PageSize};

record! {
    /// Visitors of the whole site within the range of dates.
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
    /// Visitors of one page within the range of dates.
    pub struct PageVisitors {
        /// The page's path, as in `/guides/start`.
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
        /// Visitors of the whole site within the range of dates, whatever the page.
        pub totals as "totals": VisitorTotals,
        /// The rows of this page: at most `limit`.
        pub visitors as "visitors": Vec<PageVisitors>,
        /// Whether there are rows beyond this page.
        pub has_more as "hasMore": bool,
    }
}

operation! {
    /// Lists how many people and AI agents visited each page.
    pub struct ListVisitors: Default -> Visitors {
        /// The range of dates.
        pub range: DateRange,
        /// Rows per page; the platform's default is 50.
        pub limit: Option<PageSize>,
        /// Rows to skip; the platform's default is 0.
        pub offset: Option<Offset>,
    }
    name: "analytics.visitors",
    route: Get "/v1/analytics/{projectId}/visitors",
    scope: ReadAnalytics,
    policy: Some(Policy::Analytics),
    pagination: Pagination::Offset { rows: "visitors" },
    link: Some("https://www.mintlify.com/docs/api/analytics/visitors"),
}
