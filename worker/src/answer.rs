//! An answer as the host is told it, and the header fields that every answer has.

use serde::{Serialize, Serializer};

use crate::cors::{self, Origin};
use crate::problem::{MEDIA_TYPE, Problem};
use crate::route;

/// Header fields by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(pub Vec<(&'static str, String)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Header fields of this answer, beside those of [`always`].
    pub headers: Fields,
    /// The body; `None` for an answer that has none.
    pub body: Option<String>,
    /// The problem's kind, when it is one.
    pub problem: Option<&'static str>,
}

impl Answer {
    /// A problem as an answer; `id` is the request's.
    #[must_use]
    pub fn problem(problem: &Problem, id: &str) -> Self {
        let mut headers = problem.headers.clone();
        headers.push(("content-type", MEDIA_TYPE.to_owned()));
        Self {
            status: problem.status,
            headers: Fields(headers),
            body: Some(problem.to_json(id)),
            problem: Some(problem.kind),
        }
    }

    /// JSON that the gateway itself has made.
    #[must_use]
    pub fn json(body: impl Into<String>) -> Self {
        Self {
            status: 200,
            headers: Fields(vec![("content-type", "application/json".to_owned())]),
            body: Some(body.into()),
            problem: None,
        }
    }

    /// What a path takes (RFC 9110, section 9.3.7), and what a browser's page may send it.
    #[must_use]
    pub fn options(methods: &[&str]) -> Self {
        let mut headers = cors::preflight_headers(methods);
        headers.push(("allow", route::allowed(methods)));
        Self {
            status: 204,
            headers: Fields(headers),
            body: None,
            problem: None,
        }
    }
}

/// What every answer carries: the request's id, what a browser is told, and that nobody in
/// between keeps it, unless the answer itself says otherwise.
#[must_use]
pub fn always(id: &str, origin: &Origin) -> Fields {
    let mut headers = cors::headers(origin);
    headers.push(("cache-control", "no-store".to_owned()));
    headers.push(("x-content-type-options", "nosniff".to_owned()));
    headers.push(("x-request-id", id.to_owned()));
    Fields(headers)
}
