//! Readers' searches in the documentation (docs/platform.md, 4.8).

use crate::count::{Count, Number};
use crate::date::DateRange;
use crate::declaration::{Pagination, Policy};
use crate::list::SmallPageSize;
use crate::parameters::Cursor;

record! {
    /// A search term.
    pub struct SearchTerm {
        /// What readers entered.
        pub search_query as "searchQuery": Option<String>,
        /// How often it was searched for.
        pub hits as "hits": Option<Count>,
        /// Its click-through rate.
        pub ctr as "ctr": Option<Number>,
        /// The path of the result that was clicked the most.
        pub top_clicked_page as "topClickedPage": Option<String>,
        /// When it was last searched for, as an ISO 8601 date-time.
        pub last_searched_at as "lastSearchedAt": Option<String>,
    }
}

record! {
    /// One page of the list of search terms.
    pub struct Searches {
        /// The terms of this page, those with the most hits first: at most `limit`.
        pub searches as "searches": Vec<SearchTerm>,
        /// All searches within the range of dates, whatever the page.
        pub total_searches as "totalSearches": Option<Count>,
        /// Where the list goes on; `null` after the last page.
        pub next_cursor as "nextCursor": Option<String>,
    }
}

operation! {
    /// Lists what readers searched for, the most frequent first.
    pub struct ListSearches: Default -> Searches {
        /// The range of dates.
        pub range: DateRange,
        /// Terms per page; the platform's default is 50.
        pub limit: Option<SmallPageSize>,
        /// Where to go on.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.searches",
    route: Get "/v1/analytics/{projectId}/searches",
    scope: ReadAnalytics,
    policy: Some(Policy::Analytics),
    pagination: Pagination::Cursor { rows: "searches" },
    link: Some("https://www.mintlify.com/docs/api/analytics/searches"),
}
