//! Readers' feedback on the project's pages (docs/platform.md, 4.6).

use super::feedback_filter::{CodeSnippetSource, ContextualSource, OtherSource};
use super::feedback_filter::{FeedbackSource, FeedbackStatus, FeedbackStatuses};
use crate::date::DateRange;
use crate::declaration::{Pagination, Policy};
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
                /// When it was given, as an ISO 8601 date-time.
                pub created_at as "createdAt": Option<String>,
                /// Where it came from.
                pub source as "source": $source,
                /// Where it stands.
                pub status as "status": Option<FeedbackStatus>,
                $($rest)*
            }
        }
    };
}
entry! {
    /// What a reader said of a page.
    ContextualFeedback, ContextualSource, {
        /// Whether the page helped.
        pub helpful as "helpful": Option<bool>,
        /// The reader's email address.
        pub contact as "contact": Option<String>,
    }
}
entry! {
    /// What a reader said of a code block.
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
    /// Feedback of an AI agent, or a vote without words.
    OtherFeedback, OtherSource, {}
}
union! {
    /// One entry of feedback; `source` says of which kind.
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
        /// Where the list goes on; `null` after the last page.
        pub next_cursor as "nextCursor": Option<String>,
        /// Whether there are entries beyond this page.
        pub has_more as "hasMore": bool,
    }
}

operation! {
    /// Lists what readers said of the pages.
    pub struct ListFeedback: Default -> FeedbackPage {
        /// The range of dates.
        pub range: DateRange,
        /// Only of this source.
        pub source: Option<FeedbackSource>,
        /// Only with one of these statuses.
        pub status: Option<FeedbackStatuses>,
        /// Entries per page; the platform's default is 50.
        pub limit: Option<SmallPageSize>,
        /// Where to go on.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.feedback",
    route: Get "/v1/analytics/{projectId}/feedback",
    scope: ReadAnalytics,
    policy: Some(Policy::Analytics),
    pagination: Pagination::Cursor { rows: "feedback" },
    link: Some("https://www.mintlify.com/docs/api/analytics/feedback"),
}
