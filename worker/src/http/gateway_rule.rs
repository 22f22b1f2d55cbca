macro_rules! gateway_rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal,)+) => {
        /// The validation rules of the gateway, in addition to [`quillgate::Rule`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum GatewayRule {
            $($(#[$doc])* $rule,)+
        }

        impl GatewayRule {
            pub const ALL: [Self; [$($name,)+].len()] = [$(Self::$rule,)+];

            /// The name in `errors`, which is stable.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }
        }
    };
}

gateway_rules! {
    /// The body must be a JSON object without duplicate members.
    JsonObject = "json-object",
    Cursor = "cursor",
    IdempotencyRetry = "idempotency-retry",
    /// Webhooks require `WEBHOOK_SECRET`.
    WebhooksOff = "webhooks-off",
    /// Webhooks of callers require `WEBHOOK_HOSTS`.
    WebhookHosts = "webhook-hosts",
    /// The header field is only valid when a job is created.
    CreateOnly = "create-only",
    LongestText = "longest-text",
    /// A day of the archive must be `YYYY-MM-DD`, without a time.
    Day = "day",
    LongestRange = "longest-range",
    LargestGroup = "largest-group",
    /// `prefix` must be `/`, or start with a slash and not end with one.
    Prefix = "prefix",
    /// A request may have `path` or `prefix`, not both.
    NotWithPath = "not-with-path",
    ReturnPath = "return-path",
}
