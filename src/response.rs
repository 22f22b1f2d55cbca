//! Decodes a response to a result, an API error or a decode error.

use std::time::Duration;

use crate::date::parse_retry_after;
use crate::error::ApiError;
use crate::millis::Millis;
use crate::value::Value;

/// The parts of a response's head that affect the result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The HTTP status code.
    pub status: u16,
    /// `X-Request-Id`.
    pub request_id: Option<String>,
    /// The unparsed value of `Retry-After`.
    pub retry_after: Option<String>,
    /// The unparsed value of `Date`.
    pub date: Option<String>,
    /// The unparsed value of `Location`.
    pub location: Option<String>,
}

impl Head {
    /// Returns whether the status is 2xx (RFC 9110, section 15.3).
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status <= 299
    }

    /// Returns the wait requested by `Retry-After`, or `None` if it is absent or invalid.
    #[must_use]
    pub fn wait(&self, now: Millis) -> Option<Millis> {
        parse_retry_after(self.retry_after.as_deref()?, self.date.as_deref(), now)
    }

    /// Converts a response that is not 2xx to an API error.
    ///
    /// `body` is the parsed JSON body, if any. The message is the first non-empty string at
    /// [`MESSAGE_PATHS`], or else the meaning of the status. A redirect's message names its target.
    #[must_use]
    pub fn api_error<V: Value>(self, body: Option<&V>, now: Millis) -> ApiError {
        let stated = self.redirect().or_else(|| body.and_then(find_message));
        let stated = stated.map(|text| shorten(&text));
        ApiError {
            status: self.status,
            message: stated.unwrap_or_else(|| reason(self.status).to_owned()),
            details: body.map(stated_details).unwrap_or_default(),
            code: body
                .and_then(|body| body.member("type").text())
                .map(|kind| shorten(&kind)),
            retry_after: self.wait(now).map(Duration::from),
            request_id: self.request_id,
        }
    }

    /// Describes a redirect by the origin of its target, or by its path if it has no origin.
    fn redirect(&self) -> Option<String> {
        let location = self.location.as_deref()?;
        if !(300..=399).contains(&self.status) {
            return None;
        }
        let target = match location.split_once("://") {
            Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
                let host = authority.rsplit('@').next().unwrap_or_default();
                [scheme, "://", host].concat()
            }
            _ => location.split(['?', '#']).next().map(str::to_owned)?,
        };
        Some(["a redirect to ", &target, ", which is not followed"].concat())
    }
}

/// Returns whether a gateway's problem has `outcome: "unknown"`.
///
/// Then the gateway does not know whether Mintlify processed the request. It does not send the
/// request again for a retry with the same idempotency key.
///
/// ```
/// use quillgate::response::is_outcome_unknown;
///
/// assert!(is_outcome_unknown(&serde_json::json!({ "status": 504, "outcome": "unknown" })));
/// ```
#[must_use]
pub fn is_outcome_unknown<V: Value>(body: &V) -> bool {
    body.member("outcome").text().as_deref() == Some("unknown")
}

/// Returns whether a result is about the requested resource. `name` is the result's property with its
/// id. A result without this property may be about any resource.
///
/// A result about another job can come from a mixed-up cache. It must not be stored or shown.
///
/// ```
/// use quillgate::response::is_about;
/// use serde_json::json;
///
/// assert!(is_about(&json!({ "id": "j1" }), "id", "j1"));
/// assert!(is_about(&json!({ "status": "active" }), "id", "j1"));
/// assert!(!is_about(&json!({ "id": "j2" }), "id", "j1"));
/// ```
#[must_use]
pub fn is_about<V: Value>(result: &V, name: &'static str, requested: &str) -> bool {
    result
        .member(name)
        .text()
        .is_none_or(|found| found == requested)
}

/// The JSON paths of an error message: Mintlify's format, RFC 9457 problems and the formats of
/// common proxies. The first non-empty string is used.
pub const MESSAGE_PATHS: [&[&str]; 5] = [
    &["error"],
    &["error", "message"],
    &["detail"],
    &["title"],
    &["message"],
];

/// The JSON paths of additional messages: the name of a list, and the property of its objects.
pub const DETAIL_PATHS: [(&str, &str); 2] = [("details", "message"), ("errors", "detail")];

/// The maximum number of additional messages from each list.
pub const MAX_DETAILS: usize = 20;

/// The maximum length of a message in characters, without the ellipsis of a truncated message.
pub const MAX_MESSAGE: usize = 1000;

fn find_message<V: Value>(body: &V) -> Option<String> {
    let texts = MESSAGE_PATHS.iter().filter_map(|path| {
        let (first, rest) = path.split_first()?;
        let step = |value: V, name: &&'static str| value.member(name);
        rest.iter().fold(body.member(first), step).text()
    });
    texts.into_iter().find(|text| !text.is_empty())
}

fn stated_details<V: Value>(body: &V) -> Vec<String> {
    let of = |(list, member): &(&'static str, &'static str)| {
        let elements = body.member(list).elements().into_iter();
        let texts = elements
            .take(MAX_DETAILS)
            .map(|item| item.member(member).text());
        texts
            .flatten()
            .map(|text| shorten(&text))
            .collect::<Vec<_>>()
    };
    DETAIL_PATHS.iter().flat_map(of).collect()
}

/// Truncates a message to [`MAX_MESSAGE`] characters.
fn shorten(text: &str) -> String {
    let mut start: String = text.chars().take(MAX_MESSAGE).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// Ranges of statuses and their meanings (RFC 9110, section 15; RFC 6585). The first match is used.
pub const REASONS: [(u16, u16, &str); 20] = [
    (400, 400, "bad request"),
    (401, 401, "unauthorized"),
    (403, 403, "forbidden"),
    (404, 404, "not found"),
    (405, 405, "method not allowed"),
    (408, 408, "request timeout"),
    (409, 409, "conflict"),
    (413, 413, "content too large"),
    (415, 415, "unsupported media type"),
    (422, 422, "unprocessable content"),
    (429, 429, "too many requests"),
    (500, 500, "internal server error"),
    (502, 502, "bad gateway"),
    (503, 503, "service unavailable"),
    (504, 504, "gateway timeout"),
    // In browsers, a redirect that is not followed has status 0.
    (0, 0, REDIRECT),
    (300, 399, REDIRECT),
    (400, 499, "the request was refused"),
    (500, 599, "the server failed"),
    (0, u16::MAX, "an unexpected status"),
];
const REDIRECT: &str = "a redirect, which is not followed";

fn reason(status: u16) -> &'static str {
    let mut ranges = REASONS.iter();
    let holds = |(from, to, _): &&(u16, u16, _)| (*from..=*to).contains(&status);
    ranges.find(holds).map_or("", |(_, _, words)| words)
}

#[cfg(feature = "json")]
mod json {
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use super::{Head, is_about};
    use crate::call::Call;
    use crate::declaration::{ParameterIn, ParameterKind};
    use crate::endpoint::Endpoint;
    use crate::error::{DecodeError, Error};
    use crate::millis::Millis;
    use crate::schema::{HasJsonType as _, JsonType, check};
    use crate::text::replace_half_surrogates;

    /// Decodes the body of a 2xx response.
    ///
    /// # Errors
    /// [`DecodeError`] with the JSON path of the first value that does not have the expected type.
    /// The path is empty if the body is not valid JSON.
    ///
    /// # Example
    /// ```
    /// use quillgate::{ListPageViews, response::decode};
    ///
    /// let body = br#"{"totals":{},"views":[{"path":"/","human":-1}],"hasMore":false}"#;
    /// assert_eq!(decode::<ListPageViews>(body).unwrap_err().at, "views[0].human");
    /// ```
    pub fn decode<E>(body: &[u8]) -> Result<E::Output, DecodeError>
    where
        E: Endpoint,
        E::Output: DeserializeOwned,
    {
        convert::<E>(parse_result::<E>(body)?)
    }

    /// Decodes the body of a 2xx response to `call`.
    ///
    /// # Errors
    /// As [`decode`]. Also if the result is about another job than the one in the call's path.
    /// Conversations are not compared, because the id of any turn may find its conversation.
    pub fn decode_result<E>(call: &Call, body: &[u8]) -> Result<E::Output, DecodeError>
    where
        E: Endpoint,
        E::Output: DeserializeOwned,
    {
        let value = parse_result::<E>(body)?;
        for (parameter, argument) in call.arguments() {
            let is_id = parameter.place == ParameterIn::Path && parameter.kind == ParameterKind::Id;
            if is_id && !is_about(&value, parameter.name, argument) {
                let reason = "must be the requested id, found another one";
                return Err(DecodeError::new(parameter.name, reason));
            }
        }
        convert::<E>(value)
    }

    fn parse_result<E: Endpoint>(body: &[u8]) -> Result<Value, DecodeError> {
        let body = match E::Output::JSON_TYPE {
            // Responses such as 204 have no body.
            JsonType::Empty => b"null",
            _ => body,
        };
        let value = parse(body).map_err(malformed)?;
        check(&value, &E::Output::JSON_TYPE)?;
        Ok(value)
    }

    fn convert<E>(value: Value) -> Result<E::Output, DecodeError>
    where
        E: Endpoint,
        E::Output: DeserializeOwned,
    {
        serde_json::from_value(value).map_err(malformed)
    }

    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    fn malformed(error: serde_json::Error) -> DecodeError {
        DecodeError::new("", error.to_string())
    }

    /// Decodes a response to the operation's result.
    ///
    /// # Errors
    /// [`Error::Api`] if the status is not 2xx. [`Error::Decode`] if the body of a 2xx response
    /// does not have the expected type.
    pub fn read<E>(head: Head, body: &[u8], now: Millis) -> Result<E::Output, Error>
    where
        E: Endpoint,
        E::Output: DeserializeOwned,
    {
        if head.is_success() {
            return decode::<E>(body).map_err(Error::from);
        }
        Err(head.api_error(parse(body).ok().as_ref(), now).into())
    }

    /// Parses a body. Replaces half surrogates by U+FFFD. Invalid UTF-8 is an error.
    fn parse(body: &[u8]) -> serde_json::Result<Value> {
        match str::from_utf8(body) {
            Ok(text) => serde_json::from_str(&replace_half_surrogates(text)),
            Err(_) => serde_json::from_slice(body),
        }
    }
}

#[cfg(feature = "json")]
pub use json::{decode, decode_result, read};
