//! Per-call options: timeouts, retries, and whether the server deduplicates the call.

use crate::credential::{check_idempotency_key, check_webhook_url};
use crate::declaration::Repeat;
use crate::error::{IntegerRule, Rule, ValidationError};
use crate::millis::Millis;
use crate::retry::{DEFAULT_RETRIES, Idempotency};
use crate::value::{Scalar, Value, optional_integer, optional_text};

/// The default of [`CallOptions::timeout`]: 60 s.
pub const DEFAULT_TIMEOUT: Millis = Millis(60_000);

/// A call's timeouts and retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallOptions {
    /// The timeout of each attempt, including the response body. Default: 60 s.
    pub timeout: Millis,
    /// The timeout of the whole call, including retries and the waits between them. Default: no
    /// limit.
    pub total_timeout: Option<Millis>,
    /// The maximum number of retries after a transient failure, from 0 to 10. Default: 2.
    pub max_retries: u32,
    /// Whether the server deduplicates the call by its idempotency key. Default: `false`.
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
    /// Reads options from an object.
    ///
    /// The properties are `timeout`, `totalTimeout`, `maxRetries`, `idempotencyKey`,
    /// `deduplicated`, `webhookUrl` and `gateway`. Set `deduplicated` to `true` if the server
    /// deduplicates calls by their key. It has no effect without a key. Set `gateway` to `true`
    /// unless the server is Mintlify's, which sends no webhooks.
    ///
    /// # Errors
    /// The first rule that an option breaks.
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
        let is_set = |name| matches!(options.member(name).scalar(), Scalar::Flag(true));
        if let Some(url) = optional_text(options, "webhookUrl")? {
            check_webhook_url(&url)?;
            if !is_set("gateway") {
                return Err(ValidationError::new("webhookUrl", Rule::GatewayOnly, ""));
            }
        }
        let defaults = Self::default();
        let retries = optional_integer(options, "maxRetries", &IntegerRule::RETRY_COUNT)?;
        let retries = retries.and_then(|retries| u32::try_from(retries).ok());
        Ok(Self {
            timeout: read_length(options, "timeout")?.unwrap_or(defaults.timeout),
            total_timeout: read_length(options, "totalTimeout")?,
            max_retries: retries.unwrap_or(defaults.max_retries),
            is_deduplicated: key.is_some() && is_set("deduplicated"),
        })
    }

    /// Returns the effect of sending a request more than once. Mintlify itself does not support
    /// idempotency keys.
    #[must_use]
    pub const fn idempotency(&self, repeat: Repeat) -> Idempotency {
        match repeat {
            Repeat::Safe => Idempotency::Idempotent,
            Repeat::Keyed if self.is_deduplicated => Idempotency::WithKey,
            Repeat::Keyed | Repeat::Never => Idempotency::NonIdempotent,
        }
    }
}

/// Reads an optional duration in milliseconds, from 1 to 2^31 − 1.
///
/// # Errors
/// [`crate::Rule::MILLISECONDS`] if the value is not an integer in this range.
pub fn read_length<V: Value>(
    options: &V,
    field: &'static str,
) -> Result<Option<Millis>, ValidationError> {
    let length = optional_integer(options, field, &IntegerRule::MILLISECONDS)?;
    Ok(length.map(Millis))
}
