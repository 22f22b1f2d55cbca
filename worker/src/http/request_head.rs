//! The head of a request.

use crate::http::response::HeaderFields;
use crate::http::url::split_url;

/// The method, the URL and the header fields of a request.
#[derive(Debug, Clone)]
pub struct RequestHead {
    /// The caller's `X-Request-Id` if it is valid, else the UUID.
    pub id: String,
    /// A random UUID, from which the span's id derives, and the trace id unless the caller sent
    /// one.
    pub uuid: String,
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// The absolute URL, as the runtime has normalized it.
    pub url: String,
    /// The path of the URL, percent-encoded.
    pub path: String,
    /// The query of the URL without the question mark, percent-encoded.
    pub query: Option<String>,
    /// The header fields, with names in lower case.
    pub headers: HeaderFields,
}

impl RequestHead {
    /// Reads a head.
    pub fn read(uuid: String, method: String, url: String, headers: HeaderFields) -> Self {
        let id = headers.get("x-request-id").filter(|id| is_valid_id(id));
        let (path, query) = split_url(&url);
        Self {
            id: id.unwrap_or(&uuid).to_owned(),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            uuid,
            method,
            url,
            headers,
        }
    }

    /// Returns the value of a header field. An empty value counts as absent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.raw_header(name).filter(|value| !value.is_empty())
    }

    /// Returns the value of a header field even if it is empty, so that validation can reject it.
    pub fn raw_header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)
    }
}

/// Returns whether a client accepts an HTML page, as browsers do when they navigate.
pub fn accepts_page(accept: Option<&str>) -> bool {
    let mut types = accept.unwrap_or("").split(',');
    types.any(|one| {
        let name = one.split(';').next().unwrap_or("");
        name.trim().eq_ignore_ascii_case("text/html")
    })
}

fn is_valid_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
    (1..=255).contains(&id.len()) && id.bytes().all(fits)
}
