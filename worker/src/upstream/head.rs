//! The heads of upstream responses.

use crate::http::content::is_json;
use crate::http::response::HeaderFields;

const FORWARDED: [&str; 2] = ["content-type", "content-language"];

/// The status and the header fields of an upstream response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamHead {
    /// The HTTP status.
    pub status: u16,
    /// All header fields.
    pub headers: HeaderFields,
}

impl UpstreamHead {
    /// Returns whether the response is 2xx with JSON.
    pub fn is_success(&self) -> bool {
        (200..=299).contains(&self.status) && is_json(self.headers.get("content-type"))
    }

    /// Returns the header fields that the gateway forwards with a successful response.
    pub fn forwarded_headers(&self) -> HeaderFields {
        let present = |name| Some((name, self.headers.get(name)?.to_owned()));
        FORWARDED.into_iter().filter_map(present).collect()
    }
}
