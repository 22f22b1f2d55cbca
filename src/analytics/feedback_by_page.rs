//! Feedback by page: the votes for and against each page (docs/mintlify/analytics.md, 4.7).

use super::feedback_filter::{FeedbackSource, FeedbackStatuses};
use crate::count::Count;
use crate::date::DateRange;
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::list::Limit;

record! {
    /// Feedback on one page in the date range.
    pub struct PageFeedback {
        /// The page's path, such as `/guides/start`.
        pub path as "path": Option<String>,
        /// The number of positive votes.
        pub thumbs_up as "thumbsUp": Option<Count>,
        /// The number of negative votes.
        pub thumbs_down as "thumbsDown": Option<Count>,
        /// The number of entries about code blocks.
        pub code as "code": Option<Count>,
        /// The number of all entries.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// Feedback by page. Mintlify truncates it to `limit` rows and has no further pages.
    pub struct FeedbackByPage {
        /// The rows: at most `limit`.
        pub feedback as "feedback": Vec<PageFeedback>,
        /// Whether rows were omitted.
        pub has_more as "hasMore": Option<bool>,
    }
}

operation! {
    /// Counts positive and negative feedback on each page, for at most 100 pages.
    pub struct GetFeedbackByPage: Default -> FeedbackByPage {
        /// The date range.
        pub range: DateRange,
        /// The maximum number of rows. Default: 10.
        pub limit: Option<Limit<100, 10>>,
        /// Only feedback from this source.
        pub source: Option<FeedbackSource>,
        /// Only feedback with one of these statuses.
        pub status: Option<FeedbackStatuses>,
    }
    name: "analytics.feedbackByPage",
    route: Get "/v1/analytics/{projectId}/feedback/by-page",
    scope: ReadAnalytics,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/analytics/feedback-by-page"),
}
