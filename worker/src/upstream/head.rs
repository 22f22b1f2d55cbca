//! Heads of upstream responses.

use crate::http::content::is_json;
use crate::http::response::HeaderFields;

/// The status and relevant header fields of an upstream response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamHead {
    /// The HTTP status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<String>,
    /// `X-Request-Id`.
    pub request_id: Option<String>,
    /// `Content-Language`.
    pub content_language: Option<String>,
}

impl UpstreamHead {
    /// Parses header fields in lines of the form `name: value`.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::upstream::head::UpstreamHead;
    ///
    /// let head = UpstreamHead::read(429, "content-type: text/html\nretry-after: 5\n");
    /// assert_eq!(head.retry_after.as_deref(), Some("5"));
    /// assert_eq!(head.request_id, None);
    /// ```
    #[must_use]
    pub fn read(status: u16, lines: &str) -> Self {
        let mut head = Self {
            status,
            ..Self::default()
        };
        for line in lines.split('\n') {
            // Field names do not contain colons.
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let field = match name {
                "content-type" => &mut head.content_type,
                "retry-after" => &mut head.retry_after,
                "x-request-id" => &mut head.request_id,
                "content-language" => &mut head.content_language,
                _ => continue,
            };
            *field = Some(value.trim_start_matches(' ').to_owned());
        }
        head
    }

    /// Reports whether the response is 2xx with JSON.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..=299).contains(&self.status) && is_json(self.content_type.as_deref())
    }

    /// Returns the header fields that the gateway forwards with a successful response.
    #[must_use]
    pub fn forwarded_headers(&self) -> HeaderFields {
        let fields = [
            ("content-type", &self.content_type),
            ("content-language", &self.content_language),
        ];
        let present = |(name, value): (&'static str, &Option<String>)| Some((name, value.clone()?));
        fields.into_iter().filter_map(present).collect()
    }
}
