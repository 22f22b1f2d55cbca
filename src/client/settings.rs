//! What a caller may say about a client, or about one call of it.

use std::rc::Rc;

use web_sys::AbortSignal;

use crate::credential::IdempotencyKey;
use crate::error::{IntegerRule, ValidationError};
use crate::options::CallOptions;

/// A client's settings, or those of one call, which begin as the client's.
#[derive(Clone, Default)]
pub struct Settings {
    pub options: CallOptions,
    pub signal: Option<AbortSignal>,
    /// In the order in which they were given: a later one replaces an earlier one of its name.
    pub headers: Rc<Vec<(String, String)>>,
    pub key: Option<IdempotencyKey>,
    /// Whether a call is carried out again though an earlier one of its key may have been.
    pub is_forced: bool,
}

impl Settings {
    /// Checks the options' bounds, which the type does not hold.
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

/// Gives a type with a member `settings` the methods that change them.
macro_rules! settings {
    ($(#[$example:meta])+) => {
        /// The same, with these time limits and this number of retries: 60 s for an attempt, no
        /// limit for a call and 2 retries by default.
        ///
        /// Whether the server deduplicates, [`CallOptions::is_deduplicated`](crate::CallOptions),
        /// the client knows by itself: it is ignored here. A length of time that is not within 1 to
        /// 2^31 − 1 ms, or more than 10 retries, is refused by the call.
        ///
        $(#[$example])+
        #[must_use = "what is returned has the settings"]
        pub const fn with_options(mut self, options: crate::CallOptions) -> Self {
            self.settings.options = options;
            self
        }

        /// The same, aborted at once when the signal is, in a request, a body or a wait: the error
        /// is [`Error::Aborted`](crate::client::Error) with the signal's reason.
        ///
        $(#[$example])+
        #[must_use = "what is returned has the settings"]
        pub fn with_signal(mut self, signal: crate::client::AbortSignal) -> Self {
            self.settings.signal = Some(signal);
            self
        }

        /// The same, with these header fields besides. Those that a request needs itself are not
        /// replaced.
        ///
        $(#[$example])+
        #[must_use = "what is returned has the settings"]
        pub fn with_headers(mut self, headers: &crate::client::Headers) -> Self {
            let own = std::rc::Rc::make_mut(&mut self.settings.headers);
            own.extend(headers.entries());
            self
        }
    };
}

pub(super) use settings;
