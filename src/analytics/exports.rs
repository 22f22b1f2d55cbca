//! Exports of reports: the gateway streams every row of a date range.

use super::feedback_filter::{FeedbackSource, FeedbackStatuses};
use super::{Conversation, Feedback, PageView, PageVisitors, SearchTerm};
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::export::{ClosedRange, ExportCursor, ExportFormat};
use crate::operation::Operation;

/// Declares an export. Besides the format, the range and the cursor, it has the filters of its
/// list.
macro_rules! export {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident of $row:ty {
            $($(#[doc = $field_doc:literal])+ pub $field:ident: $kind:ty,)*
        }
        name: $wire:literal,
        path: $path:literal,
        scope: $scope:ident,
    ) => {
        operation! {
            $(#[doc = $doc])+
            pub struct $name -> $row {
                /// The output format.
                pub format: ExportFormat,
                /// The date range.
                pub range: ClosedRange,
                $($(#[doc = $field_doc])+ pub $field: $kind,)*
                /// The position to resume from. Default: the first row.
                pub cursor: Option<ExportCursor>,
            }
            name: $wire,
            route: Get $path,
            scope: $scope,
            policy: Some(RateLimitPolicy::Analytics),
            repeat: Safe,
            pagination: Pagination::None,
            link: None,
        }
    };
}

export! {
    /// Exports the views of each page: every row of the date range.
    pub struct ExportPageViews of PageView {}
    name: "analytics.views.export",
    path: "/v1/analytics/{projectId}/views/export",
    scope: ReadAnalytics,
}
export! {
    /// Exports the number of people and AI agents that visited each page: every row of the date
    /// range.
    pub struct ExportVisitors of PageVisitors {}
    name: "analytics.visitors.export",
    path: "/v1/analytics/{projectId}/visitors/export",
    scope: ReadAnalytics,
}
export! {
    /// Exports feedback from readers and AI agents: every entry of the date range.
    pub struct ExportFeedback of Feedback {
        /// Only feedback from this source.
        pub source: Option<FeedbackSource>,
        /// Only feedback with one of these statuses.
        pub status: Option<FeedbackStatuses>,
    }
    name: "analytics.feedback.export",
    path: "/v1/analytics/{projectId}/feedback/export",
    scope: ReadAnalytics,
}
export! {
    /// Exports readers' search terms: every term of the date range.
    pub struct ExportSearches of SearchTerm {}
    name: "analytics.searches.export",
    path: "/v1/analytics/{projectId}/searches/export",
    scope: ReadAnalytics,
}
export! {
    /// Exports readers' questions to the assistant, with its responses: every turn of the date
    /// range.
    pub struct ExportConversations of Conversation {}
    name: "analytics.conversations.export",
    path: "/v1/analytics/{projectId}/assistant/export",
    scope: ReadConversations,
}

impl Operation {
    /// Returns the list that the operation exports, or `None` if it is not an export.
    #[must_use]
    pub const fn exported(self) -> Option<Self> {
        match self {
            Self::ExportPageViews => Some(Self::ListPageViews),
            Self::ExportVisitors => Some(Self::ListVisitors),
            Self::ExportFeedback => Some(Self::ListFeedback),
            Self::ExportSearches => Some(Self::ListSearches),
            Self::ExportConversations => Some(Self::ListConversations),
            _ => None,
        }
    }
}
