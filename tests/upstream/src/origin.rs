//! The request headers of a job's creation.

use axum::http::header::{AUTHORIZATION, USER_AGENT};
use axum::http::{HeaderMap, HeaderName};
use serde::Serialize;

use crate::auth::Keys;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The request headers that identify the caller of a creation.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Origin {
    /// The name of the key, never the key.
    key: String,
    user_agent: Option<String>,
    traceparent: Option<String>,
    idempotency_key: Option<String>,
}

impl Origin {
    pub(crate) fn of(headers: &HeaderMap, keys: &Keys) -> Self {
        let value = |name: HeaderName| {
            let value = headers.get(name)?.as_bytes();
            Some(keys.scrub(&String::from_utf8_lossy(value)))
        };
        Self {
            key: keys.name(headers.get(AUTHORIZATION)).to_owned(),
            user_agent: value(USER_AGENT),
            traceparent: value(TRACEPARENT),
            idempotency_key: value(IDEMPOTENCY_KEY),
        }
    }
}
