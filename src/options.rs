//! What a caller may say about one call.

use crate::credential::check_idempotency_key;
use crate::declaration::Method;
use crate::error::{IntegerRule, ValidationError};
use crate::millis::Millis;
use crate::retry::{DEFAULT_RETRIES, Idempotency};
use crate::value::{Scalar, Value, optional_integer, optional_text};

/// How long one attempt may take, body included, when nothing else is said: 60 s.
pub const DEFAULT_TIMEOUT: Millis = Millis(60_000);

/// How long a call may take and how often it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallOptions {
    /// How long one attempt may take, body included; 60 s by default.
    pub timeout: Millis,
    /// How long attempts and waits may take together; no limit by default.
    pub total_timeout: Option<Millis>,
    /// How often a request is sent again after a failure that may pass: 0 to 10, 2 by default.
    pub max_retries: u32,
    /// Whether the server recognises the call by its idempotency key, and carries it out once.
    pub is_deduplicated: bool,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            timeout: DEFAULT_TIMEOUT,
            total_timeout: None,
            max_retries: DEFAULT_RETRIES,
            is_deduplicated: false,
        }
    }
}

impl CallOptions {
    /// Reads `timeout`, `totalTimeout`, `maxRetries`, `idempotencyKey` and `deduplicated`, which
    /// says whether the server deduplicates calls that have a key.
    ///
    /// # Errors
    /// The first value that breaks a rule.
    ///
    /// # Example
    /// ```
    /// use quillgate::{CallOptions, Millis};
    /// use serde_json::json;
    ///
    /// let options = CallOptions::parse(&json!({ "timeout": 1500 }))?;
    /// assert_eq!(options, CallOptions { timeout: Millis(1500), ..CallOptions::default() });
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn parse<V: Value>(options: &V) -> Result<Self, ValidationError> {
        let key = optional_text(options, "idempotencyKey")?;
        if let Some(key) = &key {
            check_idempotency_key(key)?;
        }
        let defaults = Self::default();
        let retries = optional_integer(options, "maxRetries", &IntegerRule::RETRY_COUNT)?;
        let retries = retries.and_then(|retries| u32::try_from(retries).ok());
        Ok(Self {
            timeout: read_length(options, "timeout")?.unwrap_or(defaults.timeout),
            total_timeout: read_length(options, "totalTimeout")?,
            max_retries: retries.unwrap_or(defaults.max_retries),
            is_deduplicated: key.is_some()
                && matches!(options.member("deduplicated").scalar(), Scalar::Flag(true)),
        })
    }

    /// What the server makes of a request by this method that it gets twice.
    #[must_use]
    pub const fn idempotency(&self, method: Method) -> Idempotency {
        match method {
            Method::Post if self.is_deduplicated => Idempotency::ByKey,
            method => Idempotency::of_method(method),
        }
    }
}

/// Reads a length of time in milliseconds, which a timer can take.
///
/// # Errors
/// [`crate::Rule::MILLISECONDS`] when it is anything else.
pub fn read_length<V: Value>(
    options: &V,
    field: &'static str,
) -> Result<Option<Millis>, ValidationError> {
    let length = optional_integer(options, field, &IntegerRule::MILLISECONDS)?;
    Ok(length.map(Millis))
}
