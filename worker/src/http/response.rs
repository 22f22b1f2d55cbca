//! The gateway's answers, and the header fields that all of them have.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::http::cors::Origin;
use crate::http::problem::{MEDIA_TYPE, Problem};
use crate::http::problem_kind::ProblemKind;
use crate::http::url::is_loopback;
use crate::http::{cors, route};
use crate::json;

/// The media type of the gateway's own answers.
pub const JSON: &str = "application/json";

/// Header fields by name, in lower case, each name once.
///
/// A carriage return, a line feed or a NUL in a value becomes a space (RFC 9110, section 5.5), so
/// that no value can add a field of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderFields(Vec<(Cow<'static, str>, Cow<'static, str>)>);

impl HeaderFields {
    /// Sets a field; one of that name is replaced.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) {
        let (name, value) = (name.into(), replace_line_breaks(value.into()));
        match self.0.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = value,
            None => self.0.push((name, value)),
        }
    }

    /// With a field; one of that name is replaced.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.set(name, value);
        self
    }

    /// Without a field.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(own, _)| own != name);
        self
    }

    /// With those of other fields whose names are not present yet.
    #[must_use]
    pub fn or(mut self, others: Self) -> Self {
        for (name, value) in others.0 {
            if self.get(&name).is_none() {
                self.0.push((name, value));
            }
        }
        self
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(own, _)| own == name)?;
        Some(value)
    }

    /// The fields as lines of `name: value`, each with a line feed, which no value can contain:
    /// how they are passed to the host.
    #[must_use]
    pub fn to_lines(&self) -> String {
        let mut lines = String::with_capacity(self.0.len() * 48);
        for (name, value) in &self.0 {
            lines.push_str(name);
            lines.push_str(": ");
            lines.push_str(value);
            lines.push('\n');
        }
        lines
    }

    /// Reads what [`Self::to_lines`] wrote; other lines are ignored.
    #[must_use]
    pub fn from_lines(lines: &str) -> Self {
        let mut fields = Self::default();
        for line in lines.split('\n') {
            // No name has a colon in it.
            if let Some((name, rest)) = line.split_once(':')
                && let Some(value) = rest.strip_prefix(' ')
            {
                fields.set(name.to_owned(), value.to_owned());
            }
        }
        fields
    }

    /// The fields as a JSON object: how they are stored under an idempotency key.
    #[must_use]
    pub fn to_json(&self) -> String {
        let member = |(name, value): (&str, &str)| (name.to_owned(), Value::from(value));
        let mut members = Map::new();
        members.extend(self.iter().map(member));
        json::to_text(&Value::Object(members))
    }

    /// Reads what [`Self::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let Some(Value::Object(members)) = json::parse(text.as_bytes()) else {
            return None;
        };
        let mut fields = Self::default();
        for (name, value) in members {
            let Value::String(value) = value else {
                return None;
            };
            fields.set(name, value);
        }
        Some(fields)
    }

    /// The names and the values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

fn replace_line_breaks(value: Cow<'static, str>) -> Cow<'static, str> {
    let is_forbidden = |character| matches!(character, '\r' | '\n' | '\0');
    // By bytes: an answer has a dozen fields, and characters would have to be decoded.
    if !value.bytes().any(|byte| is_forbidden(char::from(byte))) {
        return value;
    }
    let replace = |character| {
        if is_forbidden(character) {
            ' '
        } else {
            character
        }
    };
    value.chars().map(replace).collect::<String>().into()
}

impl FromIterator<(&'static str, String)> for HeaderFields {
    fn from_iter<I: IntoIterator<Item = (&'static str, String)>>(fields: I) -> Self {
        let mut all = Self::default();
        for (name, value) in fields {
            all.set(name, value);
        }
        all
    }
}

impl Serialize for HeaderFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_lines())
    }
}

impl<'de> Deserialize<'de> for HeaderFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|lines| Self::from_lines(&lines))
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct GatewayResponse {
    /// The HTTP status.
    pub status: u16,
    /// The header fields of this answer, beside the [`common_headers`].
    pub headers: HeaderFields,
    /// The body; `None` for an answer that has none.
    pub body: Option<String>,
    /// The problem's kind, when it is one.
    pub problem: Option<ProblemKind>,
}

impl GatewayResponse {
    /// A problem as an answer; `id` is the request's.
    #[must_use]
    pub fn problem(problem: &Problem, id: &str) -> Self {
        let headers: HeaderFields = problem.headers.iter().cloned().collect();
        Self {
            status: problem.status,
            headers: headers.with("content-type", MEDIA_TYPE),
            body: Some(problem.to_json(id)),
            problem: Some(problem.kind),
        }
    }

    /// A success with JSON.
    #[must_use]
    pub fn json(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: HeaderFields::default().with("content-type", JSON),
            body: Some(body.into()),
            problem: None,
        }
    }

    /// An answer without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            headers: HeaderFields::default(),
            body: None,
            problem: None,
        }
    }

    /// The answer to `OPTIONS` (RFC 9110, section 9.3.7): the methods of a path, and what a browser's
    /// page may send to it.
    #[must_use]
    pub fn options(methods: &[&str]) -> Self {
        let headers: HeaderFields = cors::preflight_headers(methods).into_iter().collect();
        Self {
            headers: headers.with("allow", route::join_methods(methods)),
            ..Self::empty(204)
        }
    }
}

/// `Strict-Transport-Security`: browsers use `https` alone for a year (RFC 6797). Other hosts of the
/// domain are not the gateway's to speak for.
const TRANSPORT_SECURITY: &str = "max-age=31536000";

/// The value of `Strict-Transport-Security` in the answer to a request to this URL. `None` over
/// `http`, where it must not be sent (section 7.2), and on this machine, where it would hold for
/// every other program's port.
#[must_use]
pub fn find_transport_security(url: &str) -> Option<&'static str> {
    let rest = url.strip_prefix("https://")?;
    (!is_loopback(rest)).then_some(TRANSPORT_SECURITY)
}

/// The header fields that every answer carries: the request's id, those for browsers, and
/// `no-store`, unless the answer itself says otherwise.
#[must_use]
pub fn common_headers(id: &str, origin: &Origin) -> HeaderFields {
    let mut headers = HeaderFields::default();
    for (name, value) in cors::headers(origin) {
        headers.set(name, value);
    }
    headers
        .with("cache-control", "no-store")
        .with("x-content-type-options", "nosniff")
        .with("x-request-id", id.to_owned())
}
