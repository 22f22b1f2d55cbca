//! The settings of clients and calls, such as timeouts, retries and headers. A call starts with its
//! client's settings and can override them.

use http::HeaderMap;

use crate::credential::{IdempotencyKey, WebhookUrl};
use crate::error::{IntegerRule, ValidationError};
use crate::options::CallOptions;

/// The settings of a client or of one call.
#[derive(Clone, Default)]
pub struct Settings {
    pub options: CallOptions,
    pub headers: HeaderMap,
    pub key: Option<IdempotencyKey>,
    pub webhook: Option<WebhookUrl>,
    /// Whether to send `Idempotency-Retry: force`; see `ApiCall::force`.
    pub is_forced: bool,
    #[cfg(target_arch = "wasm32")]
    pub signal: Option<web_sys::AbortSignal>,
}

impl Settings {
    /// Checks the bounds of timeouts and retries.
    pub fn check(&self) -> Result<(), ValidationError> {
        let lengths = [
            ("timeout", Some(self.options.timeout)),
            ("totalTimeout", self.options.total_timeout),
        ];
        for (field, length) in lengths {
            if let Some(length) = length {
                IntegerRule::MILLISECONDS.check(field, length.0)?;
            }
        }
        let retries = u64::from(self.options.max_retries);
        IntegerRule::RETRY_COUNT
            .check("maxRetries", retries)
            .map(drop)
    }
}

/// Implements the setters of a builder that has a field `settings`.
macro_rules! settings {
    () => {
        /// Sets the timeout of each attempt, including the response body: 1 ms to 2^31 − 1 ms.
        /// Default: 60 s.
        ///
        /// Outside these bounds, `build`, `send` or `next` fails with
        /// [`Rule::MILLISECONDS`](crate::Rule).
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/settings.rs"), "```")]
        #[must_use = "returns the changed value"]
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.settings.options.timeout = timeout.into();
            self
        }

        /// Sets the timeout of the whole call, including retries and the delays between them: 1 ms
        /// to 2^31 − 1 ms. Default: no limit. In a list, it applies to each page. Watches ignore
        /// it.
        ///
        /// Outside these bounds, `build`, `send` or `next` fails with
        /// [`Rule::MILLISECONDS`](crate::Rule).
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/settings.rs"), "```")]
        #[must_use = "returns the changed value"]
        pub fn total_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.settings.options.total_timeout = Some(timeout.into());
            self
        }

        /// Sets the maximum number of retries after a transient failure: 0 to 10. Default: 2.
        /// Watches ignore it.
        ///
        /// Outside these bounds, `build`, `send` or `next` fails with
        /// [`Rule::RETRY_COUNT`](crate::Rule).
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/settings.rs"), "```")]
        #[must_use = "returns the changed value"]
        pub const fn max_retries(mut self, retries: u32) -> Self {
            self.settings.options.max_retries = retries;
            self
        }

        /// Adds header fields. They replace fields of the same name that were added before, but not
        /// those that the client itself sends, such as `Authorization`.
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/settings.rs"), "```")]
        #[must_use = "returns the changed value"]
        pub fn headers(mut self, headers: http::HeaderMap) -> Self {
            self.settings.headers.extend(headers);
            self
        }

        /// Aborts the call when `signal` aborts, also during the delay before a retry or a poll.
        /// The error is `Error::Aborted` with the signal's reason.
        ///
        /// # Example
        #[doc = concat!("```no_run\n", include_str!("../../tests/client_web/examples/signal.rs"), "```")]
        #[cfg(target_arch = "wasm32")]
        #[must_use = "returns the changed value"]
        pub fn signal(mut self, signal: web_sys::AbortSignal) -> Self {
            self.settings.signal = Some(signal);
            self
        }
    };
}

pub(super) use settings;
