use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::http::cors::Origin;
use crate::http::problem::{MEDIA_TYPE, Problem};
use crate::http::problem_kind::ProblemKind;
use crate::http::url::is_loopback;
use crate::http::{cors, route};
use crate::json;

pub const JSON: &str = "application/json";

/// Lowercase names. Only `set-cookie` may appear several times (RFC 9110, section 5.3). A carriage
/// return, line feed or NUL in a value becomes a space (section 5.5), so that no value can add
/// another field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "Vec<(String, String)>")]
pub struct HeaderFields(Vec<(Cow<'static, str>, Cow<'static, str>)>);

impl HeaderFields {
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) {
        let (name, value) = (name.into(), replace_line_breaks(value.into()));
        match self.0.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = value,
            None => self.0.push((name, value)),
        }
    }

    pub fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.set(name, value);
        self
    }

    pub fn with_cookie(mut self, cookie: String) -> Self {
        let value = replace_line_breaks(cookie.into());
        self.0.push(("set-cookie".into(), value));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(own, _)| own != name);
        self
    }

    /// Adds the fields of `others` that are not present yet.
    pub fn or(mut self, others: Self) -> Self {
        for (name, value) in others.0 {
            if self.get(&name).is_none() {
                self.0.push((name, value));
            }
        }
        self
    }

    /// `name` is in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(own, _)| own == name)?;
        Some(value)
    }

    /// Without cookies after the first.
    pub fn to_json(&self) -> String {
        let mut members = Map::new();
        for (name, value) in self.iter() {
            members.entry(name).or_insert_with(|| value.into());
        }
        json::to_text(&members)
    }

    pub fn from_json(text: &str) -> Option<Self> {
        let field = |(name, value)| match value {
            Value::String(value) => Some((name, value)),
            _ => None,
        };
        let members = json::parse_map(text.as_bytes())?;
        members.into_iter().map(field).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

fn replace_line_breaks(value: Cow<'static, str>) -> Cow<'static, str> {
    // Most values are valid. Searching their bytes is faster than decoding their characters.
    if value.bytes().any(|byte| b"\r\n\0".contains(&byte)) {
        return value.replace(['\r', '\n', '\0'], " ").into();
    }
    value
}

impl<N, V> FromIterator<(N, V)> for HeaderFields
where
    N: Into<Cow<'static, str>>,
    V: Into<Cow<'static, str>>,
{
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut all = Self::default();
        for (name, value) in fields {
            all.set(name, value);
        }
        all
    }
}

impl From<Vec<(String, String)>> for HeaderFields {
    fn from(fields: Vec<(String, String)>) -> Self {
        fields.into_iter().collect()
    }
}

/// The body is text, or in the Worker any JavaScript value that `Response` accepts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct GatewayResponse<Body = Option<String>> {
    pub status: u16,
    /// In addition to the [`common_headers`].
    pub headers: HeaderFields,
    /// `None` or `null` for a response without content.
    pub body: Body,
    pub problem: Option<ProblemKind>,
}

impl<Body> GatewayResponse<Body> {
    pub const fn new(status: u16, headers: HeaderFields, body: Body) -> Self {
        Self {
            status,
            headers,
            body,
            problem: None,
        }
    }

    pub fn with_header(self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        let headers = self.headers.with(name, value);
        Self { headers, ..self }
    }
}

impl GatewayResponse {
    /// `id` is the request's id.
    pub fn problem(problem: &Problem, id: &str) -> Self {
        let headers: HeaderFields = problem.headers.iter().cloned().collect();
        Self {
            status: problem.status,
            headers: headers.with("content-type", MEDIA_TYPE),
            body: Some(problem.to_json(id)),
            problem: Some(problem.kind),
        }
    }

    pub fn json(status: u16, body: impl Into<String>) -> Self {
        let headers = HeaderFields::default().with("content-type", JSON);
        Self::new(status, headers, Some(body.into()))
    }

    pub fn empty(status: u16) -> Self {
        Self::new(status, HeaderFields::default(), None)
    }

    /// RFC 9110, section 9.3.7.
    pub fn options(methods: &[&str]) -> Self {
        let headers: HeaderFields = cors::preflight_headers(methods).into_iter().collect();
        let headers = headers.with("allow", route::join_methods(methods));
        Self::new(204, headers, None)
    }
}

/// Proxies must neither compress nor buffer the events: nginx and others obey `X-Accel-Buffering`.
pub fn stream_headers() -> HeaderFields {
    HeaderFields::default()
        .with("content-type", "text/event-stream; charset=utf-8")
        .with("cache-control", "no-store, no-transform")
        .with("x-accel-buffering", "no")
}

/// RFC 6797. Without `includeSubDomains`, because the gateway does not serve subdomains.
const TRANSPORT_SECURITY: &str = "max-age=31536000";

/// A response's own headers override these.
pub fn common_headers(id: &str, url: &str, origin: &Origin) -> HeaderFields {
    let mut headers: HeaderFields = cors::headers(origin).into_iter().collect();
    // Responses over `http` must not contain `Strict-Transport-Security` (RFC 6797, section 7.2).
    // The header applies to every port of a host, so on a loopback host it would affect other
    // programs.
    let host = url.strip_prefix("https://");
    if host.is_some_and(|host| !is_loopback(host)) {
        headers.set("strict-transport-security", TRANSPORT_SECURITY);
    }
    headers
        .with("cache-control", "no-store")
        .with("x-content-type-options", "nosniff")
        .with("x-request-id", id.to_owned())
}
