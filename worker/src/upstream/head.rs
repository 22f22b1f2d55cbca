//! Heads of upstream responses.

use crate::http::content::is_json;
use crate::http::response::HeaderFields;

/// The status and relevant header fields of an upstream response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamHead {
    /// The HTTP status of the upstream's response.
    pub status: u16,
    /// The media type of the body.
    pub content_type: Option<String>,
    /// `Retry-After`, as seconds or as a date.
    pub retry_after: Option<String>,
    /// The upstream's own id of the request.
    pub request_id: Option<String>,
    /// `Content-Language`, which the gateway forwards.
    pub content_language: Option<String>,
}

impl UpstreamHead {
    /// Reads the relevant header fields with `field`, which returns the value of the named field.
    pub fn read(status: u16, field: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            status,
            content_type: field("content-type"),
            retry_after: field("retry-after"),
            request_id: field("x-request-id"),
            content_language: field("content-language"),
        }
    }

    /// Returns whether the response is 2xx with JSON.
    pub fn is_success(&self) -> bool {
        (200..=299).contains(&self.status) && is_json(self.content_type.as_deref())
    }

    /// Returns the header fields that the gateway forwards with a successful response.
    pub fn forwarded_headers(&self) -> HeaderFields {
        let fields = [
            ("content-type", &self.content_type),
            ("content-language", &self.content_language),
        ];
        let present = |(name, value): (&'static str, &Option<String>)| Some((name, value.clone()?));
        fields.into_iter().filter_map(present).collect()
    }
}
