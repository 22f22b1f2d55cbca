//! Faults and their effects on a response.

mod buffered_response;
mod fields;
mod queue;

use std::num::{NonZeroU64, NonZeroUsize};

use axum::Json;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::held::HeldRequests;

pub(crate) use queue::{FaultQueue, FaultRule};

use buffered_response::BufferedResponse;
use fields::{Headers, Status, Text};

#[derive(Clone, Debug, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(crate) enum Fault {
    Status {
        status: Status,
        body: Option<String>,
        content_type: Option<Text>,
        #[serde(default)]
        headers: Headers,
        #[serde(default)]
        process: bool,
    },
    Json {
        status: Status,
        body: Value,
    },
    Html {
        status: Status,
    },
    Edge {
        form: EdgeForm,
    },
    Empty {
        status: Status,
    },
    Redirect {
        status: Status,
        location: Text,
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

/// How the network in front of the platform blocks a client.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum EdgeForm {
    /// Text with an error code.
    Code,
    /// An HTML page that a browser would pass.
    Challenge,
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
    /// A response without a body, instead of processing the request.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self::Empty {
            status: Status(status),
        }
    }

    /// An HTML error page, instead of processing the request.
    pub(crate) fn error_page(status: StatusCode) -> Self {
        Self::Html {
            status: Status(status),
        }
    }

    /// A JSON error, instead of processing the request.
    pub(crate) fn error(status: StatusCode) -> Self {
        Self::error_with(status, false)
    }

    /// A JSON error after processing the request.
    pub(crate) fn error_after(status: StatusCode) -> Self {
        Self::error_with(status, true)
    }

    fn error_with(status: StatusCode, process: bool) -> Self {
        Self::Status {
            status: Status(status),
            body: None,
            content_type: None,
            headers: Headers::default(),
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
                plain(status.0, body, content_type, headers)
            }
            Self::Json { status, body } => (status.0, Json(body)).into_response(),
            Self::Html { status } => error_page(status.0),
            Self::Edge { form } => block(form),
            Self::Empty { status } => status.0.into_response(),
            Self::Redirect { status, location } => {
                (status.0, [(LOCATION, location.0)]).into_response()
            }
        };
        Outcome::Respond(response)
    }
}

fn plain(
    status: StatusCode,
    body: Option<String>,
    content_type: Option<Text>,
    headers: Headers,
) -> Response {
    let body = body.unwrap_or_else(|| json!({ "error": reason(status) }).to_string());
    let json = HeaderValue::from_static("application/json");
    let content_type = content_type.map_or(json, |content_type| content_type.0);
    (status, [(CONTENT_TYPE, content_type)], headers.0, body).into_response()
}

/// A 403 as Cloudflare sends it.
fn block(form: EdgeForm) -> Response {
    let status = StatusCode::FORBIDDEN;
    let server = [("server", "cloudflare"), ("cf-ray", "0123456789abcdef-AMS")];
    match form {
        EdgeForm::Code => (status, server, "error code: 1010\n").into_response(),
        EdgeForm::Challenge => {
            let page = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>\n";
            let mitigated = [("cf-mitigated", "challenge")];
            (status, server, mitigated, Html(page)).into_response()
        }
    }
}

fn error_page(status: StatusCode) -> Response {
    let title = format!("{} {}", status.as_u16(), reason(status));
    let page = format!(
        "<!doctype html>\n<html><head><title>{title}</title></head>\
         <body><h1>{title}</h1><hr>simulated-edge</body></html>\n"
    );
    (status, Html(page)).into_response()
}

fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Simulated fault")
}
