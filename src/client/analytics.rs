//! Reports of who reads the documentation.

use crate::analytics::{
    GetCallerStats, GetConversation, GetFeedbackByPage, ListConversations, ListFeedback,
    ListPageViews, ListSearches, ListVisitors,
};
use crate::client::Client;
use crate::client::call::ApiCall;
use crate::client::list::List;

/// Reports of a client's project. All of them share one budget: 100 requests per hour for the whole
/// organisation, unless the platform says otherwise.
#[derive(Debug, Clone, Copy)]
pub struct Analytics<'a>(pub(super) &'a Client);

impl Analytics<'_> {
    /// Lists how often each page was viewed, by people and by AI.
    ///
    /// # Errors
    /// As [`List`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
    pub fn views(&self, list: ListPageViews) -> List<ListPageViews> {
        List::new(self.0, list)
    }

    /// Lists how many people and AI agents visited each page.
    ///
    /// # Errors
    /// As [`List`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/visitors.rs"), "```")]
    pub fn visitors(&self, list: ListVisitors) -> List<ListVisitors> {
        List::new(self.0, list)
    }

    /// Lists what readers said of the pages.
    ///
    /// # Errors
    /// As [`List`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/feedback.rs"), "```")]
    pub fn feedback(&self, list: ListFeedback) -> List<ListFeedback> {
        List::new(self.0, list)
    }

    /// Reads how often readers approved of each page: at most 100 pages, and no further ones.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/feedback_by_page.rs"), "```")]
    pub fn feedback_by_page(&self, get: GetFeedbackByPage) -> ApiCall<GetFeedbackByPage> {
        ApiCall::new(self.0, get)
    }

    /// Lists what readers searched for, the most frequent first.
    ///
    /// # Errors
    /// As [`List`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/searches.rs"), "```")]
    pub fn searches(&self, list: ListSearches) -> List<ListSearches> {
        List::new(self.0, list)
    }

    /// Lists what readers asked the assistant, and what it responded. This is personal data.
    ///
    /// # Errors
    /// As [`List`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/conversations.rs"), "```")]
    pub fn conversations(&self, list: ListConversations) -> List<ListConversations> {
        List::new(self.0, list)
    }

    /// Reads one conversation with the assistant, message by message. This is personal data.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/conversation.rs"), "```")]
    pub fn conversation(&self, get: GetConversation) -> ApiCall<GetConversation> {
        ApiCall::new(self.0, get)
    }

    /// Counts what the assistant was asked, by where the questions came from.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 429 when the budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/caller_stats.rs"), "```")]
    pub fn caller_stats(&self, get: GetCallerStats) -> ApiCall<GetCallerStats> {
        ApiCall::new(self.0, get)
    }
}
