//! The list of conversations with the assistant. Conversations are personal data
//! (docs/mintlify/analytics.md, 4.9).

use crate::date::{DateRange, Instant};
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::list::Limit;
use crate::parameters::ConversationCursor;

text! {
    /// The kind of a response. Other values are passed through unchanged.
    pub struct ResponseType: open "answer", "clarifying_question"
}
text! {
    /// Whether the documentation contained the answer. Other values are passed through unchanged.
    pub struct ResolutionStatus: open "answered", "unanswered"
}

record! {
    /// A page of the documentation that the assistant referred to.
    pub struct ConversationSource {
        /// The page's title.
        pub title as "title": Option<String>,
        /// The page's URL.
        pub url as "url": Option<String>,
    }
}

record! {
    /// One turn of a conversation with the assistant.
    pub struct Conversation {
        /// The conversation's identifier.
        pub id as "id": Option<String>,
        /// When the question was asked, as an ISO 8601 date-time.
        pub timestamp as "timestamp": Option<Instant>,
        /// The reader's question.
        pub query as "query": Option<String>,
        /// The assistant's response.
        pub response as "response": Option<String>,
        /// The kind of response. Without it, the response is an answer.
        pub response_type as "responseType": Option<ResponseType>,
        /// The pages that the assistant referred to.
        pub sources as "sources": Option<Vec<ConversationSource>>,
        /// Whether the documentation contained the answer.
        pub resolution_status as "resolutionStatus": Option<ResolutionStatus>,
        /// The category of the question.
        pub query_category as "queryCategory": Option<String>,
        /// The URL of the page on which the conversation began.
        pub page_url as "pageUrl": Option<String>,
    }
}

record! {
    /// One page of the list of conversations.
    pub struct Conversations {
        /// The turns of this page: at most `limit`.
        pub conversations as "conversations": Vec<Conversation>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
        /// Whether more turns follow this page.
        pub has_more as "hasMore": Option<bool>,
    }
}

operation! {
    /// Lists readers' questions to the assistant, with its responses.
    pub struct ListConversations: Default -> Conversations {
        /// The date range.
        pub range: DateRange,
        /// Turns per page. Default: 100.
        pub limit: Option<Limit<1000, 100>>,
        /// The cursor of the page to return.
        pub cursor: Option<ConversationCursor>,
    }
    name: "analytics.conversations",
    route: Get "/v1/analytics/{projectId}/assistant",
    scope: ReadConversations,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "conversations", time: Some("timestamp"), scans: false },
    link: Some("https://www.mintlify.com/docs/api/analytics/assistant-conversations"),
}
