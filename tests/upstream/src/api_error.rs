//! Error responses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The reason for an error response. No message contains data of the request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ApiError {
    MissingKey,
    UnknownKey,
    ExpiredKey,
    ReadOnlyKey,
    WriteOnlyKey,
    UnknownProject,
    PlanRequired,
    PreviewPlanRequired,
    TargetTooLong,
    InvalidRequest(&'static str),
    InvalidQuery(Vec<String>),
    InvalidThread(Vec<String>),
    JobNotFound,
    ThreadNotFound,
    StatusNotFound,
    AutomationNotFound,
    NoSuchRoute,
    MethodNotAllowed,
    BodyTooLarge,
    RateLimited,
}

impl ApiError {
    /// The error for a cursor that does not belong to the requested list.
    pub(crate) fn unknown_cursor() -> Self {
        Self::InvalidQuery(vec!["cursor does not belong to this list".to_owned()])
    }

    /// The details of the error, if it has any.
    fn details(&self) -> Option<Vec<Value>> {
        let detail = |message: &str| json!({ "message": message });
        match self {
            Self::InvalidQuery(problems) | Self::InvalidThread(problems) => {
                Some(problems.iter().map(|problem| detail(problem)).collect())
            }
            Self::ThreadNotFound => Some(vec![detail("no thread of the project has this id")]),
            _ => None,
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::MissingKey | Self::UnknownKey | Self::ExpiredKey | Self::PlanRequired => {
                StatusCode::UNAUTHORIZED
            }
            Self::ReadOnlyKey
            | Self::WriteOnlyKey
            | Self::UnknownProject
            | Self::PreviewPlanRequired => StatusCode::FORBIDDEN,
            Self::InvalidRequest(_) | Self::InvalidQuery(_) | Self::InvalidThread(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::JobNotFound
            | Self::ThreadNotFound
            | Self::StatusNotFound
            | Self::AutomationNotFound
            | Self::NoSuchRoute => StatusCode::NOT_FOUND,
            Self::TargetTooLong => StatusCode::URI_TOO_LONG,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    fn message(&self) -> &'static str {
        match self {
            Self::MissingKey => "Missing API key",
            Self::UnknownKey => "Invalid API key",
            Self::ExpiredKey => "API key has expired",
            Self::ReadOnlyKey => "API key is limited to read access",
            Self::WriteOnlyKey => "API key is limited to write access",
            Self::UnknownProject => "API key has no access to this project",
            Self::PlanRequired => "The API is not part of your plan. Upgrade to use it",
            Self::PreviewPlanRequired => {
                "Preview deployments are not available on your current plan"
            }
            Self::TargetTooLong => "URI too long",
            Self::InvalidRequest(message) => message,
            Self::InvalidQuery(_) => "Invalid query parameters",
            Self::InvalidThread(_) => "Invalid thread ID",
            Self::JobNotFound => "Job not found",
            Self::ThreadNotFound => "Thread not found",
            Self::StatusNotFound => "Update status not found",
            Self::AutomationNotFound => "Automation not found",
            Self::NoSuchRoute => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::BodyTooLarge => "Request body too large",
            Self::RateLimited => "Rate limit exceeded",
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.message() });
        if let Some(details) = self.details() {
            body["details"] = details.into();
        }
        (self.status(), Json(body)).into_response()
    }
}
