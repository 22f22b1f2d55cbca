use crate::http::response::HeaderFields;
use crate::http::trace::{Trace, continue_trace};
use crate::http::url::split_url;

#[derive(Debug, Clone)]
pub struct RequestHead {
    /// The caller's if it is valid, else the UUID.
    pub id: String,
    pub method: String,
    /// Absolute, as the runtime has normalized it.
    pub url: String,
    /// Percent-encoded.
    pub path: String,
    /// Percent-encoded, without the question mark.
    pub query: Option<String>,
    pub headers: HeaderFields,
    pub trace: Trace,
}

impl RequestHead {
    pub fn read(uuid: String, method: String, url: String, headers: HeaderFields) -> Self {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
        let is_valid = |id: &&str| (1..=255).contains(&id.len()) && id.bytes().all(fits);
        let id = headers.get("x-request-id").filter(is_valid);
        let (path, query) = split_url(&url);
        let (parent, state) = (headers.get("traceparent"), headers.get("tracestate"));
        Self {
            trace: continue_trace(parent, state, &uuid),
            id: id.map_or(uuid, str::to_owned),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            method,
            url,
            headers,
        }
    }

    /// An empty value counts as absent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.raw_header(name).filter(|value| !value.is_empty())
    }

    /// An empty value counts, so that validation can reject it.
    pub fn raw_header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)
    }
}

/// Browsers accept a page when they navigate.
pub fn accepts_page(accept: Option<&str>) -> bool {
    let mut types = accept.unwrap_or("").split(',');
    types.any(|value| is_media_type(value, "text/html"))
}

/// With any parameters (RFC 9110, section 8.3.1).
pub fn is_media_type(value: &str, name: &str) -> bool {
    let essence = value.split(';').next().unwrap_or("");
    essence.trim_ascii().eq_ignore_ascii_case(name)
}
