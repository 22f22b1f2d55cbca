//! Faults and their effects on a response.

mod buffered_response;
mod queue;

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::held::HeldRequests;

pub(crate) use queue::{FaultQueue, FaultRule};

use buffered_response::BufferedResponse;

#[derive(Clone, Debug, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(crate) enum Fault {
    Status {
        status: u16,
        body: Option<String>,
        content_type: Option<String>,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        process: bool,
    },
    Json {
        status: u16,
        body: Value,
    },
    Html {
        status: u16,
    },
    Empty {
        status: u16,
    },
    Redirect {
        status: u16,
        location: String,
    },
    Hold {
        #[serde(default)]
        process: bool,
        next: Option<Box<Fault>>,
    },
    Hang {
        #[serde(default)]
        process: bool,
    },
    Reset {
        #[serde(default)]
        process: bool,
    },
    CutBody {
        bytes: Option<usize>,
    },
    CutChunked {
        bytes: Option<usize>,
    },
    MalformedJson,
    SlowDrip {
        chunk_bytes: NonZeroUsize,
        interval_ms: NonZeroU64,
    },
}

/// How a request ends.
pub(crate) enum Outcome {
    Respond(Response),
    /// A response whose body ends the connection too early.
    Truncate(Response),
    Hang,
    Reset,
}

/// The response of the API, which may not have been computed yet.
enum PendingResponse<F> {
    Future(F),
    Ready(Response),
}

impl<F: Future<Output = Response>> PendingResponse<F> {
    async fn resolve(self) -> Response {
        match self {
            Self::Future(response) => response.await,
            Self::Ready(response) => response,
        }
    }
}

impl Fault {
    /// A JSON error, instead of processing the request or after it.
    pub(crate) fn error(status: u16, process: bool) -> Self {
        Self::Status {
            status,
            body: None,
            content_type: None,
            headers: BTreeMap::new(),
            process,
        }
    }

    /// Replaces or changes the response of the API. [`Self::Hold`] first waits for the release, and
    /// resets the connection if the simulator is reset while it waits.
    pub(crate) async fn apply(
        self,
        held: &HeldRequests,
        response: impl Future<Output = Response>,
    ) -> Outcome {
        let mut fault = self;
        let mut response = PendingResponse::Future(response);
        while let Self::Hold { process, next } = fault {
            if process {
                response = PendingResponse::Ready(response.resolve().await);
            }
            if held.wait().await.is_err() {
                return Outcome::Reset;
            }
            match next {
                Some(next) => fault = *next,
                None => return Outcome::Respond(response.resolve().await),
            }
        }
        fault.inject(response.resolve()).await
    }

    async fn inject(self, response: impl Future<Output = Response>) -> Outcome {
        let response = match self {
            // Already handled by `apply`.
            Self::Hold { .. } => response.await,
            Self::Hang { process } => {
                if process {
                    response.await;
                }
                return Outcome::Hang;
            }
            Self::Reset { process } => {
                if process {
                    response.await;
                }
                return Outcome::Reset;
            }
            Self::CutBody { bytes } => {
                return Outcome::Truncate(
                    BufferedResponse::from(response.await).await.cut_body(bytes),
                );
            }
            Self::CutChunked { bytes } => {
                return Outcome::Truncate(
                    BufferedResponse::from(response.await)
                        .await
                        .cut_chunked(bytes),
                );
            }
            Self::MalformedJson => BufferedResponse::from(response.await).await.malformed(),
            Self::SlowDrip {
                chunk_bytes,
                interval_ms,
            } => BufferedResponse::from(response.await)
                .await
                .drip(chunk_bytes.get(), interval_ms.get()),
            Self::Status {
                status,
                body,
                content_type,
                headers,
                process,
            } => {
                if process {
                    response.await;
                }
                let body = body.unwrap_or_else(|| json!({ "error": reason(status) }).to_string());
                let content_type = content_type.as_deref().unwrap_or("application/json");
                let head = Response::builder().header(CONTENT_TYPE, content_type);
                let head = headers
                    .iter()
                    .fold(head, |head, (name, value)| head.header(name, value));
                respond(status, head.body(Body::from(body)))
            }
            Self::Json { status, body } => respond(status, Ok(Json(body).into_response())),
            Self::Html { status } => respond(status, Ok(Html(error_page(status)).into_response())),
            Self::Empty { status } => respond(status, Ok(Response::default())),
            Self::Redirect { status, location } => {
                let head = Response::builder().header(LOCATION, location);
                respond(status, head.body(Body::empty()))
            }
        };
        Outcome::Respond(response)
    }
}

/// The response of a fault. Invalid faults cause a 500.
fn respond(status: u16, response: Result<Response, axum::http::Error>) -> Response {
    match (StatusCode::from_u16(status), response) {
        (Ok(status), Ok(response)) => (status, response).into_response(),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "invalid fault").into_response(),
    }
}

fn error_page(status: u16) -> String {
    let title = format!("{status} {}", reason(status));
    format!(
        "<!doctype html>\n<html><head><title>{title}</title></head>\
         <body><h1>{title}</h1><hr>simulated-edge</body></html>\n"
    )
}

fn reason(status: u16) -> &'static str {
    let status = StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Simulated fault")
}
