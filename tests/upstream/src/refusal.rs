//! The answers that are errors.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why a request is refused. No message repeats what the request held.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    MissingKey,
    UnknownKey,
    ExpiredKey,
    ReadOnlyKey,
    WriteOnlyKey,
    UnknownProject,
    InvalidRequest(&'static str),
    InvalidQuery(Vec<&'static str>),
    JobNotFound,
    NoSuchRoute,
    MethodNotAllowed,
    BodyTooLarge,
    RateLimited,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::MissingKey | Self::UnknownKey | Self::ExpiredKey => StatusCode::UNAUTHORIZED,
            Self::ReadOnlyKey | Self::WriteOnlyKey | Self::UnknownProject => StatusCode::FORBIDDEN,
            Self::InvalidRequest(_) | Self::InvalidQuery(_) => StatusCode::BAD_REQUEST,
            Self::JobNotFound | Self::NoSuchRoute => StatusCode::NOT_FOUND,
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
            Self::InvalidRequest(message) => message,
            Self::InvalidQuery(_) => "Invalid query parameters",
            Self::JobNotFound => "Job not found",
            Self::NoSuchRoute => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::BodyTooLarge => "Request body too large",
            Self::RateLimited => "Rate limit exceeded",
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.message() });
        if let Self::InvalidQuery(problems) = &self {
            let details = problems.iter().map(|message| json!({ "message": message }));
            body["details"] = details.collect();
        }
        (self.status(), Json(body)).into_response()
    }
}
