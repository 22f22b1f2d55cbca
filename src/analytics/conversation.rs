//! One conversation with the assistant. Conversations are personal data
//! (docs/mintlify/analytics.md, 4.10).

use crate::date::Instant;
use crate::declaration::{Pagination, ParameterKind, RateLimitPolicy};
use crate::parameters::text_parameter;

text_parameter! {
    /// The identifier of a conversation: a ULID.
    ///
    /// ```
    /// use quillgate::ThreadId;
    ///
    /// assert!(ThreadId::new("01HZX3T1A9M2Q8R7V6W5Y4K3J2").is_ok());
    /// assert!(ThreadId::new("t1").is_err());
    /// ```
    pub struct ThreadId, Path "threadId", ParameterKind::Ulid,
    "The conversation's identifier, a ULID."
}

text! {
    /// The sender of a message. Other values are passed through unchanged.
    pub struct MessageRole: open "user", "assistant"
}

record! {
    /// A message in a conversation.
    pub struct ThreadMessage {
        /// The message's identifier.
        pub id as "id": Option<String>,
        /// The sender.
        pub role as "role": Option<MessageRole>,
        /// The content of the message.
        pub content as "content": Option<String>,
        /// When it was sent, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
    }
}

record! {
    /// A conversation with the assistant.
    pub struct ConversationThread {
        /// The conversation's identifier.
        pub thread_id as "threadId": Option<String>,
        /// When the conversation began, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
        /// The messages, in order.
        pub messages as "messages": Vec<ThreadMessage>,
    }
}

operation! {
    /// Reads one conversation with the assistant, message by message.
    pub struct GetConversation -> ConversationThread {
        /// The conversation.
        pub thread_id: ThreadId,
    }
    name: "analytics.conversation",
    route: Get "/v1/analytics/{projectId}/assistant/threads/{threadId}",
    scope: ReadConversations,
    policy: Some(RateLimitPolicy::Analytics),
    repeat: Safe,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/analytics/assistant-thread"),
}

impl GetConversation {
    /// Creates the operation that reads this conversation.
    #[must_use]
    pub const fn new(thread_id: ThreadId) -> Self {
        Self { thread_id }
    }
}
