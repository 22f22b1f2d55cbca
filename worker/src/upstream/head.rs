use crate::http::content::is_json;
use crate::http::response::HeaderFields;

const FORWARDED: [&str; 2] = ["content-type", "content-language"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamHead {
    pub status: u16,
    pub headers: HeaderFields,
}

impl UpstreamHead {
    /// 2xx with JSON.
    pub fn is_success(&self) -> bool {
        (200..=299).contains(&self.status) && is_json(self.headers.get("content-type"))
    }

    pub fn forwarded_headers(&self) -> HeaderFields {
        let present = |name| Some((name, self.headers.get(name)?.to_owned()));
        FORWARDED.into_iter().filter_map(present).collect()
    }
}
