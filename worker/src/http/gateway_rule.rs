//! Validation rules that only the gateway has. The crate `quillgate` declares all other rules.

macro_rules! gateway_rules {
    ($($(#[$doc:meta])+ $rule:ident = $name:literal,)+) => {
        /// A validation rule of the gateway, in addition to [`quillgate::Rule`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum GatewayRule {
            $($(#[$doc])+ $rule,)+
        }

        impl GatewayRule {
            /// All rules of the gateway.
            pub const ALL: [Self; [$($name,)+].len()] = [$(Self::$rule,)+];

            /// Returns the name of the rule in `errors`. The name is stable.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }
        }
    };
}

gateway_rules! {
    /// The body must be a JSON object without duplicate members.
    JsonObject = "json-object",
    /// A cursor must be the `nextCursor` of an earlier page.
    Cursor = "cursor",
    /// `Idempotency-Retry` must be `force`.
    IdempotencyRetry = "idempotency-retry",
    /// Webhooks require `WEBHOOK_SECRET`.
    WebhooksOff = "webhooks-off",
    /// Webhooks of callers require `WEBHOOK_HOSTS`.
    WebhookHosts = "webhook-hosts",
    /// The header field is only valid when a job is created.
    CreateOnly = "create-only",
    /// A search string must have at most 200 characters.
    LongestText = "longest-text",
    /// A day of the archive must be `YYYY-MM-DD`, without a time.
    Day = "day",
    /// A range of the archive must have at most 3,660 days.
    LongestRange = "longest-range",
    /// A series must read at most 200,000 stored counts of pages per period.
    LargestGroup = "largest-group",
    /// `prefix` must be `/`, or start with a slash and not end with one.
    Prefix = "prefix",
    /// A request may have `path` or `prefix`, not both.
    NotWithPath = "not-with-path",
    /// `return` must be a path of the gateway's own page.
    ReturnPath = "return-path",
}
