//! The fields of faults.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;

/// A final response status.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u16")]
pub(crate) struct Status(pub(super) StatusCode);

impl TryFrom<u16> for Status {
    type Error = &'static str;

    fn try_from(code: u16) -> Result<Self, Self::Error> {
        let status = StatusCode::from_u16(code)
            .ok()
            .filter(|status| !status.is_informational());
        status.map(Self).ok_or("status must be from 200 to 999")
    }
}

/// A string that is a valid header value.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Text(pub(super) HeaderValue);

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        HeaderValue::try_from(text)
            .map(Self)
            .map_err(|_| "not a header value")
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Text>")]
pub(crate) struct Headers(pub(super) HeaderMap);

impl TryFrom<BTreeMap<String, Text>> for Headers {
    type Error = &'static str;

    fn try_from(fields: BTreeMap<String, Text>) -> Result<Self, Self::Error> {
        let headers = fields.into_iter().map(|(name, Text(value))| {
            let name = HeaderName::try_from(name).map_err(|_| "not a header name")?;
            Ok((name, value))
        });
        headers.collect::<Result<_, _>>().map(Self)
    }
}
