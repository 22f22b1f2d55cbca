//! JSON bodies of requests to the API.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use crate::api_error::ApiError;

/// Parses a body. `invalid` is the message for one with another type.
pub(crate) fn read<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: &[u8],
    invalid: &'static str,
) -> Result<T, ApiError> {
    if !is_json(headers) {
        return Err(ApiError::InvalidRequest(
            "Content-Type must be application/json",
        ));
    }
    serde_json::from_slice(body).map_err(|_| ApiError::InvalidRequest(invalid))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media_type = value
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}
