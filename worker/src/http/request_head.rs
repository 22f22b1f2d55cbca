use crate::http::response::HeaderFields;
use crate::http::url::split_url;

#[derive(Debug, Clone)]
pub struct RequestHead {
    /// The caller's if it is valid, else the UUID.
    pub id: String,
    /// Random. The ids of the span and of a new trace derive from it.
    pub uuid: String,
    pub method: String,
    /// Absolute, as the runtime has normalized it.
    pub url: String,
    /// Percent-encoded.
    pub path: String,
    /// Percent-encoded, without the question mark.
    pub query: Option<String>,
    pub headers: HeaderFields,
}

impl RequestHead {
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
    types.any(|one| {
        let name = one.split(';').next().unwrap_or("");
        name.trim().eq_ignore_ascii_case("text/html")
    })
}

fn is_valid_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
    (1..=255).contains(&id.len()) && id.bytes().all(fits)
}
