//! Caller stats: the number of questions to the assistant by origin (docs/mintlify/analytics.md,
//! 4.11).

use crate::count::Count;
use crate::date::DateRange;
use crate::declaration::{Pagination, RateLimitPolicy};

record! {
    /// The number of questions to the assistant, by origin.
    pub struct CallerStats {
        /// From the documentation's own pages.
        pub web as "web": Option<Count>,
        /// Through Mintlify's API.
        pub api as "api": Option<Count>,
        /// From anywhere else.
        pub other as "other": Option<Count>,
        /// All questions.
        pub total as "total": Option<Count>,
    }
}

operation! {
    /// Counts the questions to the assistant by origin.
    pub struct GetCallerStats: Default -> CallerStats {
        /// The date range.
        pub range: DateRange,
    }
    name: "analytics.callerStats",
    route: Get "/v1/analytics/{projectId}/assistant/caller-stats",
    scope: ReadAnalytics,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/analytics/assistant-caller-stats"),
}
