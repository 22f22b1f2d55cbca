//! Which operation a request is of, as counters and faults name it.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use quillgate::{Declaration, Operation, declaration};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the paths of all reports begin with.
const ANALYTICS: &str = "/v1/analytics/{projectId}/";
const OTHER: &str = "other";

/// What a request is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// An operation that the platform has.
    Operation(Operation),
    /// A path or a method that the platform does not have.
    Other,
}

impl Target {
    /// Each operation of the platform, and [`Self::Other`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        list_operations().map(Self::Operation).chain([Self::Other])
    }

    pub(crate) fn of(request: &Request) -> Self {
        let path = request
            .extensions()
            .get::<MatchedPath>()
            .map(MatchedPath::as_str);
        let asked = |operation: &Operation| {
            let declared = operation.declaration();
            method(declared) == request.method() && Some(declared.path) == path
        };
        list_operations()
            .find(asked)
            .map_or(Self::Other, Self::Operation)
    }

    /// The name in counters, faults and the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operation(operation) => operation.declaration().name,
            Self::Other => OTHER,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            OTHER => Some(Self::Other),
            name => Operation::from_name(name)
                .filter(|operation| is_of_platform(*operation))
                .map(Self::Operation),
        }
    }
}

/// By name.
impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names: Vec<_> = Self::all().map(Self::name).collect();
        Self::from_name(&name).ok_or_else(|| {
            let message = format!("unknown operation, expected one of {}", names.join(", "));
            serde::de::Error::custom(message)
        })
    }
}

/// The operations that the platform has.
pub(crate) fn list_operations() -> impl Iterator<Item = Operation> {
    let all = Operation::ALL.iter().copied();
    all.filter(|operation| is_of_platform(*operation))
}

/// Whether the platform documents it; the others are a gateway's own.
pub(crate) fn is_of_platform(operation: Operation) -> bool {
    operation.documentation().link.is_some()
}

/// The list or the counts with that name, which is the end of its path.
pub(crate) fn find_report(report: &str) -> Option<Operation> {
    let named = |operation: &Operation| {
        let path = operation.declaration().path;
        path.strip_prefix(ANALYTICS)
            .is_some_and(|end| end == report && !end.contains('{'))
    };
    list_operations().find(named)
}

fn method(declared: &Declaration) -> Method {
    match declared.method {
        declaration::Method::Get => Method::GET,
        declaration::Method::Post => Method::POST,
        declaration::Method::Delete => Method::DELETE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_named_by_the_end_of_its_path() {
        for (name, operation) in [
            ("views", Some(Operation::ListPageViews)),
            ("feedback/by-page", Some(Operation::GetFeedbackByPage)),
            ("assistant/caller-stats", Some(Operation::GetCallerStats)),
            ("assistant/threads/{threadId}", None),
            ("by-page", None),
            ("", None),
        ] {
            assert_eq!(find_report(name), operation, "{name}");
        }
    }

    #[test]
    fn page_views_are_found_by_their_former_name_and_shown_by_the_new_one() {
        for name in ["\"pageViews.list\"", "\"analytics.views\""] {
            let target: Target = serde_json::from_str(name).expect("a known name");
            assert_eq!(target, Target::Operation(Operation::ListPageViews));
        }
        let shown = serde_json::to_string(&Target::Operation(Operation::ListPageViews));
        assert_eq!(shown.expect("text"), "\"analytics.views\"");
    }

    #[test]
    fn what_a_gateway_alone_has_is_not_an_operation_of_the_platform() {
        for name in [
            "agentJobs.list",
            "agentJobs.events",
            "agentJobs.allEvents",
            "agentJobs.record",
            "agentJobs.deleteRecord",
            "analytics.views.export",
        ] {
            let json = format!("\"{name}\"");
            assert!(Operation::from_name(name).is_some(), "{name}");
            assert!(serde_json::from_str::<Target>(&json).is_err(), "{name}");
        }
        let other = serde_json::from_str::<Target>("\"other\"").expect("a known name");
        assert_eq!(other, Target::Other);
    }
}
