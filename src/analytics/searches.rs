//! Readers' searches in the documentation (docs/mintlify/analytics.md, 4.8).

use crate::count::{Count, Percentage};
use crate::date::{DateRange, Instant};
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::list::SmallPageSize;
use crate::parameters::Cursor;

record! {
    /// A search term.
    pub struct SearchTerm {
        /// The term that readers entered.
        pub search_query as "searchQuery": Option<String>,
        /// The number of searches for the term.
        pub hits as "hits": Option<Count>,
        /// The share of the searches that led to a click, as a percentage from 0 to 100: 40 means 40 %.
        pub ctr as "ctr": Option<Percentage>,
        /// The path of the most clicked result.
        pub top_clicked_page as "topClickedPage": Option<String>,
        /// When a reader last searched for the term, as an ISO 8601 date-time.
        pub last_searched_at as "lastSearchedAt": Option<Instant>,
    }
}

record! {
    /// One page of the list of search terms.
    pub struct Searches {
        /// The terms of this page, most frequent first: at most `limit`.
        pub searches as "searches": Vec<SearchTerm>,
        /// The number of all searches in the date range, the same on every page.
        pub total_searches as "totalSearches": Option<Count>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
    }
}

operation! {
    /// Lists readers' search terms, the most frequent first.
    pub struct ListSearches: Default -> Searches {
        /// The date range.
        pub range: DateRange,
        /// Terms per page. Default: 50.
        pub limit: Option<SmallPageSize>,
        /// The cursor of the page to return.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.searches",
    route: Get "/v1/analytics/{projectId}/searches",
    scope: ReadAnalytics,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "searches", time: None, scans: false },
    link: Some("https://www.mintlify.com/docs/api/analytics/searches"),
}
