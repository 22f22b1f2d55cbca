//! Feedback on the project's pages, from readers and AI agents (docs/mintlify/analytics.md, 4.6).

use super::feedback_filter::{CodeSnippetSource, ContextualSource, OtherSource};
use super::feedback_filter::{FeedbackSource, FeedbackStatus, FeedbackStatuses};
use crate::date::{DateRange, Instant};
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::list::SmallPageSize;
use crate::parameters::Cursor;

/// Declares an entry: the fields that all entries have, and those of one source.
macro_rules! entry {
    ($(#[doc = $doc:literal])+ $name:ident, $source:ty, { $($rest:tt)* }) => {
        record! {
            $(#[doc = $doc])+
            pub struct $name {
                /// The feedback's identifier.
                pub id as "id": Option<String>,
                /// The path or URL of the page.
                pub path as "path": Option<String>,
                /// The comment.
                pub comment as "comment": Option<String>,
                /// When the feedback was given, as an ISO 8601 date-time.
                pub created_at as "createdAt": Option<Instant>,
                /// The source.
                pub source as "source": $source,
                /// The status.
                pub status as "status": Option<FeedbackStatus>,
                $($rest)*
            }
        }
    };
}
entry! {
    /// A reader's feedback on a page.
    ContextualFeedback, ContextualSource, {
        /// Whether the page helped.
        pub helpful as "helpful": Option<bool>,
        /// The reader's email address.
        pub contact as "contact": Option<String>,
    }
}
entry! {
    /// A reader's feedback on a code block.
    CodeSnippetFeedback, CodeSnippetSource, {
        /// The code.
        pub code as "code": Option<String>,
        /// The code's file.
        pub filename as "filename": Option<String>,
        /// The code's language.
        pub lang as "lang": Option<String>,
    }
}
entry! {
    /// Feedback from an AI agent, or a vote without a comment.
    OtherFeedback, Option<OtherSource>, {}
}
union! {
    /// An entry of feedback. `source` is its kind, or `null` if it is missing.
    pub enum Feedback by "source" {
        Contextual(ContextualFeedback) for "contextual",
        CodeSnippet(CodeSnippetFeedback) for "code_snippet",
    }
    otherwise Other(OtherFeedback)
}

record! {
    /// One page of the list of feedback.
    pub struct FeedbackPage {
        /// The entries of this page: at most `limit`.
        pub feedback as "feedback": Vec<Feedback>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
        /// Whether more entries follow this page.
        pub has_more as "hasMore": Option<bool>,
    }
}

operation! {
    /// Lists feedback on pages and code blocks, from readers and AI agents.
    pub struct ListFeedback: Default -> FeedbackPage {
        /// The date range.
        pub range: DateRange,
        /// Only feedback from this source.
        pub source: Option<FeedbackSource>,
        /// Only feedback with one of these statuses.
        pub status: Option<FeedbackStatuses>,
        /// Entries per page. Default: 50.
        pub limit: Option<SmallPageSize>,
        /// The cursor of the page to return.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.feedback",
    route: Get "/v1/analytics/{projectId}/feedback",
    scope: ReadAnalytics,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "feedback", time: Some("createdAt"), scans: false },
    link: Some("https://www.mintlify.com/docs/api/analytics/feedback"),
}
