//! Feedback by page: the votes for and against each page (docs/platform.md, 4.7).

use super::feedback_filter::{FeedbackSource, FeedbackStatuses};
use crate::count::Count;
use crate::date::DateRange;
use crate::declaration::{Pagination, Policy};
use crate::list::Limit;

record! {
    /// Feedback of one page within the range of dates.
    pub struct PageFeedback {
        /// The page's path, as in `/guides/start`.
        pub path as "path": Option<String>,
        /// How often readers approved.
        pub thumbs_up as "thumbsUp": Option<Count>,
        /// How often readers disapproved.
        pub thumbs_down as "thumbsDown": Option<Count>,
        /// How often readers said something of a code block.
        pub code as "code": Option<Count>,
        /// All entries of feedback.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// Feedback by page. The platform cuts it at `limit` and has no further page.
    pub struct FeedbackByPage {
        /// The rows: at most `limit`.
        pub feedback as "feedback": Vec<PageFeedback>,
        /// Whether there are rows that do not fit.
        pub has_more as "hasMore": bool,
    }
}

operation! {
    /// Reads how often readers approved of each page: at most 100 pages, and no further ones.
    pub struct GetFeedbackByPage: Default -> FeedbackByPage {
        /// The range of dates.
        pub range: DateRange,
        /// Rows; the platform's default is 10.
        pub limit: Option<Limit<100, 10>>,
        /// Only of this source.
        pub source: Option<FeedbackSource>,
        /// Only with one of these statuses.
        pub status: Option<FeedbackStatuses>,
    }
    name: "analytics.feedbackByPage",
    route: Get "/v1/analytics/{projectId}/feedback/by-page",
    scope: ReadAnalytics,
    policy: Some(Policy::Analytics),
    pagination: Pagination::Whole,
    link: Some("https://www.mintlify.com/docs/api/analytics/feedback-by-page"),
}
