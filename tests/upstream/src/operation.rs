//! The operations of the API, as counters and faults name them.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use serde::{Deserialize, Serialize};

pub(crate) const CREATE_JOB: &str = "/v2/agent/{projectId}/job";
pub(crate) const GET_JOB: &str = "/v2/agent/{projectId}/job/{id}";
pub(crate) const SEND_MESSAGE: &str = "/v2/agent/{projectId}/job/{id}/message";
pub(crate) const LIST_VIEWS: &str = "/v1/analytics/{projectId}/views";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Operation {
    #[serde(rename = "agentJobs.create")]
    CreateJob,
    #[serde(rename = "agentJobs.get")]
    GetJob,
    #[serde(rename = "agentJobs.sendMessage")]
    SendMessage,
    #[serde(rename = "pageViews.list")]
    ListViews,
    /// A path or a method that the API does not have.
    #[serde(rename = "other")]
    Other,
}

impl Operation {
    pub(crate) const ALL: [Self; 5] = [
        Self::CreateJob,
        Self::GetJob,
        Self::SendMessage,
        Self::ListViews,
        Self::Other,
    ];

    pub(crate) fn of(request: &Request) -> Self {
        let route = request
            .extensions()
            .get::<MatchedPath>()
            .map(MatchedPath::as_str);
        match (request.method(), route) {
            (&Method::POST, Some(CREATE_JOB)) => Self::CreateJob,
            (&Method::GET, Some(GET_JOB)) => Self::GetJob,
            (&Method::POST, Some(SEND_MESSAGE)) => Self::SendMessage,
            (&Method::GET, Some(LIST_VIEWS)) => Self::ListViews,
            _ => Self::Other,
        }
    }
}
