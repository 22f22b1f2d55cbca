use quillgate::credential::AdminKey;
use quillgate::{Method, Operation};
use serde::{Deserialize, Serialize};

use crate::http::response::HeaderFields;
use crate::http::trace::continue_trace;
use crate::upstream::breaker::{CallOutcome, Circuit};
use crate::upstream::failure::UpstreamFailure;

/// RFC 9110, section 10.1.5.
pub const USER_AGENT: &str = concat!("quillgate/", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestIds {
    pub id: String,
    pub project: String,
    /// With the gateway's span.
    pub traceparent: String,
    /// `None` if it is not valid, or if its trace does not continue.
    pub tracestate: Option<String>,
}

impl RequestIds {
    /// With a new trace, for work that no caller requested.
    pub fn begin(id: String, project: &str) -> Self {
        Self {
            project: project.to_owned(),
            traceparent: continue_trace(None, None, &id).traceparent,
            tracestate: None,
            id,
        }
    }
}

/// Without the base URL and the credential.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamRequest<'a> {
    pub operation: Operation,
    /// Of the request that causes this one.
    pub ids: &'a RequestIds,
    pub target: &'a str,
    pub body: Option<&'a str>,
}

impl UpstreamRequest<'_> {
    pub fn method(&self) -> Method {
        self.operation.declaration().method
    }

    pub fn circuit(&self) -> Circuit {
        Circuit {
            policy: self.operation.declaration().policy,
            project: self.ids.project.clone(),
        }
    }

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

    /// Job creations have no separate targets, so each of their failures counts.
    pub fn call_outcome(&self, failure: Option<&UpstreamFailure>) -> CallOutcome<'_> {
        match failure {
            Some(failure) if failure.counts_against_upstream() => CallOutcome::Failed {
                target: has_target(self.operation).then_some(self.target),
                retry_after: failure.retry_after(),
            },
            _ => CallOutcome::Answered,
        }
    }
}

/// Whether the path names what the request is about, besides the project.
const fn has_target(operation: Operation) -> bool {
    !matches!(
        operation,
        Operation::CreateAgentJob | Operation::CreateDeployment | Operation::CreatePreview
    )
}
