//! The operation of a request, by the names that counters and faults use.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use quillgate::{Declaration, Operation, declaration};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The common prefix of the paths of all reports.
const ANALYTICS: &str = "/v1/analytics/{projectId}/";
const OTHER: &str = "other";

/// The operation that a request matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchedOperation {
    /// An operation of the platform.
    Operation(Operation),
    /// An unknown path or method.
    Other,
}

impl MatchedOperation {
    /// Each operation of the platform, and [`Self::Other`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        list_operations().map(Self::Operation).chain([Self::Other])
    }

    pub(crate) fn of(request: &Request) -> Self {
        let path = request
            .extensions()
            .get::<MatchedPath>()
            .map(MatchedPath::as_str);
        let is_requested = |operation: &Operation| {
            let declaration = operation.declaration();
            method(declaration) == request.method() && Some(declaration.path) == path
        };
        list_operations()
            .find(is_requested)
            .map_or(Self::Other, Self::Operation)
    }

    /// The name in counters, faults and the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operation(operation) => operation.declaration().name,
            Self::Other => OTHER,
        }
    }
}

/// Serializes the name.
impl Serialize for MatchedOperation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MatchedOperation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::all().find(|operation| operation.name() == name);
        found.ok_or_else(|| serde::de::Error::custom("unknown operation"))
    }
}

/// The operations that the platform documents. All others exist only in a gateway.
pub(crate) fn list_operations() -> impl Iterator<Item = Operation> {
    let all = Operation::ALL.iter().copied();
    all.filter(|operation| operation.documentation().link.is_some())
}

/// The report with this name, which is the end of its path.
pub(crate) fn find_report(report: &str) -> Option<Operation> {
    let named = |operation: &Operation| {
        let path = operation.declaration().path;
        path.strip_prefix(ANALYTICS)
            .is_some_and(|end| end == report && !end.contains('{'))
    };
    list_operations().find(named)
}

fn method(declaration: &Declaration) -> Method {
    match declaration.method {
        declaration::Method::Get => Method::GET,
        declaration::Method::Post => Method::POST,
        declaration::Method::Delete => Method::DELETE,
    }
}
