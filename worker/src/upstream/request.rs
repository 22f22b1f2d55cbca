//! Requests to the upstream.

use quillgate::credential::AdminKey;
use quillgate::{Method, Policy};

use crate::http::response::HeaderFields;
use crate::http::route;
use crate::http::url::decode_percent;
use crate::upstream::breaker::{CallOutcome, Scope};
use crate::upstream::failure::UpstreamFailure;

/// The `User-Agent` of the gateway (RFC 9110, section 10.1.5).
pub const USER_AGENT: &str = concat!("quillgate/", env!("CARGO_PKG_VERSION"));

/// A request to the upstream, without the base URL and the credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// The HTTP method.
    pub method: Method,
    /// The path and query.
    pub target: String,
    /// The JSON body.
    pub body: Option<String>,
    /// The `traceparent` header field.
    pub traceparent: String,
    /// The `tracestate` header field, if the caller sent one with its trace.
    pub tracestate: Option<String>,
}

impl UpstreamRequest {
    /// Returns the header fields for a request with this key.
    #[must_use]
    pub fn headers(&self, key: &AdminKey) -> HeaderFields {
        let mut headers = HeaderFields::default()
            .with("accept", "application/json")
            .with("authorization", format!("Bearer {}", key.expose()))
            .with("traceparent", self.traceparent.clone())
            .with("user-agent", USER_AGENT);
        if let Some(tracestate) = &self.tracestate {
            headers.set("tracestate", tracestate.clone());
        }
        if self.body.is_some() {
            headers.set("content-type", "application/json");
        }
        headers
    }

    /// Returns the policy and project of the target, which select the breaker. Returns `None` for a
    /// target that belongs to no operation.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        let path = self.target.split('?').next()?;
        let route = route::find(self.method.as_str(), path).ok()?;
        let mut segments = route.segments.iter();
        let (_, project) = segments.find(|(name, _)| *name == "projectId")?;
        Some(Scope {
            policy: route.operation.declaration().policy?,
            project: decode_percent(project)?,
        })
    }

    /// Returns the outcome that the breakers record. Repeated failures of one target count once. Job
    /// creations share one target, so each of their failures counts.
    #[must_use]
    pub fn call_outcome(
        &self,
        scope: &Scope,
        failure: Option<&UpstreamFailure>,
    ) -> CallOutcome<'_> {
        match failure {
            Some(failure) if failure.counts_against_upstream() => CallOutcome::Failed {
                target: (scope.policy != Policy::CreateJob).then_some(self.target.as_str()),
                retry_after: failure.retry_after(),
            },
            _ => CallOutcome::Answered,
        }
    }
}
