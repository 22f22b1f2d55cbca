//! The client's methods for Mintlify's reports and the gateway's daily archive.

use crate::analytics::{
    BackfillBegin, BeginBackfill, EstimateBackfill, FirstDay, GetArchiveStatus, GetCallerStats,
    GetConversation, GetFeedbackByPage, ListArchivedViews, ListConversations, ListDailyViews,
    ListFeedback, ListPageViews, ListSearches, ListVisitors, ThreadId,
};
use crate::client::Client;
use crate::client::call::{ApiCall, convert, prepare};
use crate::client::list::List;
use crate::error::ValidationError;

/// Reports of the client's project. Mintlify's reports share a budget of 100 requests per hour for
/// the whole organization.
///
/// The argument of most reports is a range of dates, such as `"2026-10-01".."2026-11-01"` or `..`.
/// The archive's reports need both dates. Methods set the other arguments, such as `.limit(10)`.
#[derive(Debug, Clone, Copy)]
pub struct Analytics<'a>(pub(super) &'a Client);

impl Analytics<'_> {
    /// Lists the views of each page, by people and by AI.
    ///
    /// # Errors
    /// As [`List::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
    pub fn views<R>(&self, report: R) -> List<ListPageViews>
    where
        R: TryInto<ListPageViews, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(report)))
    }

    /// Lists the number of people and AI agents that visited each page.
    ///
    /// # Errors
    /// As [`List::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/visitors.rs"), "```")]
    pub fn visitors<R>(&self, report: R) -> List<ListVisitors>
    where
        R: TryInto<ListVisitors, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(report)))
    }

    /// Lists feedback from readers and AI agents.
    ///
    /// # Errors
    /// As [`List::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/feedback.rs"), "```")]
    pub fn feedback<R>(&self, report: R) -> List<ListFeedback>
    where
        R: TryInto<ListFeedback, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(report)))
    }

    /// Counts positive and negative feedback on each page, for at most 100 pages.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/feedback_by_page.rs"), "```")]
    pub fn feedback_by_page<R>(&self, report: R) -> ApiCall<GetFeedbackByPage>
    where
        R: TryInto<GetFeedbackByPage, Error: Into<ValidationError>>,
    {
        ApiCall::new(self.0, prepare(convert(report)))
    }

    /// Lists search terms, the most frequent first.
    ///
    /// # Errors
    /// As [`List::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/searches.rs"), "```")]
    pub fn searches<R>(&self, report: R) -> List<ListSearches>
    where
        R: TryInto<ListSearches, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(report)))
    }

    /// Lists questions to the assistant and its responses. They are personal data.
    ///
    /// # Errors
    /// As [`List::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/conversations.rs"), "```")]
    pub fn conversations<R>(&self, report: R) -> List<ListConversations>
    where
        R: TryInto<ListConversations, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(report)))
    }

    /// Reads one conversation with the assistant. It is personal data.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/conversation.rs"), "```")]
    pub fn conversation<T>(&self, thread: T) -> ApiCall<GetConversation>
    where
        T: TryInto<ThreadId, Error: Into<ValidationError>>,
    {
        ApiCall::new(self.0, prepare(thread.try_into().map(GetConversation::new)))
    }

    /// Counts questions to the assistant by their origin.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 429 if the hourly budget is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/caller_stats.rs"), "```")]
    pub fn caller_stats<R>(&self, report: R) -> ApiCall<GetCallerStats>
    where
        R: TryInto<GetCallerStats, Error: Into<ValidationError>>,
    {
        ApiCall::new(self.0, prepare(convert(report)))
    }

    /// Lists daily, weekly or monthly views from the gateway's archive. Uses none of Mintlify's
    /// budget.
    ///
    /// # Errors
    /// As [`List::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/daily_views.rs"), "```")]
    pub fn daily_views<R>(&self, days: R) -> List<ListDailyViews>
    where
        R: TryInto<ListDailyViews, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(days)))
    }

    /// Lists every page with views in a range of days, from the gateway's archive. Uses none of
    /// Mintlify's budget.
    ///
    /// # Errors
    /// As [`List::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/archived_views.rs"), "```")]
    pub fn archived_views<R>(&self, days: R) -> List<ListArchivedViews>
    where
        R: TryInto<ListArchivedViews, Error: Into<ValidationError>>,
    {
        List::new(self.0, prepare(convert(days)))
    }

    /// Returns which days the gateway's archive contains, which are missing, and when it will be
    /// complete.
    ///
    /// # Errors
    /// As [`ApiCall::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/archive_status.rs"), "```")]
    pub fn archive_status(&self) -> ApiCall<GetArchiveStatus> {
        ApiCall::new(
            self.0,
            prepare(Ok::<_, ValidationError>(GetArchiveStatus {})),
        )
    }

    /// Estimates the requests and hours of a backfill from `first_day` on, without starting it.
    ///
    /// # Errors
    /// As [`ApiCall::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/estimate_backfill.rs"), "```")]
    pub fn estimate_backfill<D>(&self, first_day: D) -> ApiCall<EstimateBackfill>
    where
        D: TryInto<FirstDay, Error: Into<ValidationError>>,
    {
        let estimate = first_day
            .try_into()
            .map(|date_from| EstimateBackfill { date_from });
        ApiCall::new(self.0, prepare(estimate))
    }

    /// Starts a backfill: the gateway's archive fetches all missing days from `first_day` on.
    ///
    /// # Errors
    /// As [`ApiCall::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/begin_backfill.rs"), "```")]
    pub fn begin_backfill<D>(&self, first_day: D) -> ApiCall<BeginBackfill>
    where
        D: TryInto<BackfillBegin, Error: Into<ValidationError>>,
    {
        let begin = first_day
            .try_into()
            .map(|date_from| BeginBackfill { date_from });
        ApiCall::new(self.0, prepare(begin))
    }
}
