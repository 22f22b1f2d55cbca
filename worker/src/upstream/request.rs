//! Requests to Mintlify.

use quillgate::credential::AdminKey;
use quillgate::{Method, Operation};
use serde::{Deserialize, Serialize};

use crate::http::response::HeaderFields;
use crate::http::trace::continue_trace;
use crate::upstream::breaker::{CallOutcome, Circuit};
use crate::upstream::failure::UpstreamFailure;

/// The `User-Agent` of the gateway (RFC 9110, section 10.1.5).
pub const USER_AGENT: &str = concat!("quillgate/", env!("CARGO_PKG_VERSION"));

/// The ids of a caller's request, for Durable Objects and the upstream.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestIds {
    /// The value of `X-Request-Id`.
    pub id: String,
    /// The id of the project.
    pub project: String,
    /// The value of `traceparent`, with the gateway's span.
    pub traceparent: String,
    /// The caller's `tracestate`, if it is valid and its trace continues.
    pub tracestate: Option<String>,
}

impl RequestIds {
    /// Creates ids with a new trace, for work that no caller requested.
    pub fn begin(id: String, project: &str) -> Self {
        Self {
            project: project.to_owned(),
            traceparent: continue_trace(None, None, &id).traceparent,
            tracestate: None,
            id,
        }
    }
}

/// A request without the base URL and the credential.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamRequest<'a> {
    /// Determines the method.
    pub operation: Operation,
    /// The ids of the request that causes this one.
    pub ids: &'a RequestIds,
    /// The path and query, built from validated values.
    pub target: &'a str,
    /// The JSON body of a write.
    pub body: Option<&'a str>,
}

impl UpstreamRequest<'_> {
    /// Returns the method of the operation.
    pub fn method(&self) -> Method {
        self.operation.declaration().method
    }

    /// Returns the policy and project that select the circuit breaker.
    pub fn circuit(&self) -> Circuit {
        Circuit {
            policy: self.operation.declaration().policy,
            project: self.ids.project.clone(),
        }
    }

    /// Returns the header fields of the request, with `key` as the credential.
    pub fn headers(&self, key: &AdminKey) -> HeaderFields {
        let mut headers = HeaderFields::default()
            .with("accept", "application/json")
            .with("authorization", format!("Bearer {}", key.expose()))
            .with("traceparent", self.ids.traceparent.clone())
            .with("user-agent", USER_AGENT);
        if let Some(tracestate) = &self.ids.tracestate {
            headers.set("tracestate", tracestate.clone());
        }
        if self.body.is_some() {
            headers.set("content-type", "application/json");
        }
        headers
    }

    /// Returns the outcome for the breaker. Job creations have no separate targets, so each of
    /// their failures counts.
    pub fn call_outcome(&self, failure: Option<&UpstreamFailure>) -> CallOutcome<'_> {
        match failure {
            Some(failure) if failure.counts_against_upstream() => CallOutcome::Failed {
                target: (self.operation != Operation::CreateAgentJob).then_some(self.target),
                retry_after: failure.retry_after(),
            },
            _ => CallOutcome::Answered,
        }
    }
}
