//! Validation rules that only the gateway has. The core declares the others.

/// A validation rule of the gateway, in addition to [`quillgate::Rule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayRule {
    /// The body must be a JSON object without duplicate members.
    JsonObject,
    /// A cursor must be the `nextCursor` of an earlier page.
    Cursor,
    /// `Idempotency-Retry` must be `force`.
    IdempotencyRetry,
    /// Webhooks require `WEBHOOK_SECRET`.
    WebhooksOff,
    /// Webhooks of callers require `WEBHOOK_HOSTS`.
    WebhookHosts,
    /// The header field is only valid when a job is created.
    CreateOnly,
    /// A searched string must have at most 200 characters.
    LongestText,
    /// A day of the archive must be `YYYY-MM-DD`, without a time.
    Day,
    /// A range of the archive must have at most 3,660 days.
    LongestRange,
    /// `prefix` must be `/`, or start with a slash and not end with one.
    Prefix,
    /// A request may have `path` or `prefix`, not both.
    NotWithPath,
    /// `return` must be a path of the gateway's own page.
    ReturnPath,
}

impl GatewayRule {
    /// All rules of the gateway.
    pub const ALL: [Self; 12] = [
        Self::JsonObject,
        Self::Cursor,
        Self::IdempotencyRetry,
        Self::WebhooksOff,
        Self::WebhookHosts,
        Self::CreateOnly,
        Self::LongestText,
        Self::Day,
        Self::LongestRange,
        Self::Prefix,
        Self::NotWithPath,
        Self::ReturnPath,
    ];

    /// Returns the name of the rule in `errors`. It is stable.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonObject => "json-object",
            Self::Cursor => "cursor",
            Self::IdempotencyRetry => "idempotency-retry",
            Self::WebhooksOff => "webhooks-off",
            Self::WebhookHosts => "webhook-hosts",
            Self::CreateOnly => "create-only",
            Self::LongestText => "longest-text",
            Self::Day => "day",
            Self::LongestRange => "longest-range",
            Self::Prefix => "prefix",
            Self::NotWithPath => "not-with-path",
            Self::ReturnPath => "return-path",
        }
    }
}
