//! Faults, and what each does to an answer.

mod fields;
mod page;
mod queue;
mod taken;

use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use axum::Json;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::held::Held;

pub(crate) use queue::{FaultQueue, Order};

use fields::{Headers, Status, Text};
use page::Lie;
use taken::Taken;

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
    Empty {
        status: Status,
    },
    Redirect {
        status: Status,
        location: Text,
    },
    Delay {
        ms: u64,
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
    EmptyPage,
    RepeatCursor,
    HasMoreFalse,
    SlowDrip {
        chunk_bytes: NonZeroUsize,
        interval_ms: NonZeroU64,
    },
}

/// What is to be done with a request in the end.
pub(crate) enum Outcome {
    Answer(Response),
    /// An answer whose body ends the connection too early.
    Cut(Response),
    Silence,
    Reset,
}

/// What the API answers: still to be asked for, or there already.
enum Answer<F> {
    Coming(F),
    There(Response),
}

impl<F: Future<Output = Response>> Answer<F> {
    async fn take(self) -> Response {
        match self {
            Self::Coming(answer) => answer.await,
            Self::There(response) => response,
        }
    }
}

impl Fault {
    /// No body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self::Empty {
            status: Status(status),
        }
    }

    /// An error page.
    pub(crate) fn error_page(status: StatusCode) -> Self {
        Self::Html {
            status: Status(status),
        }
    }

    /// An `{error}` before the request is processed.
    pub(crate) fn refuse(status: StatusCode) -> Self {
        Self::answer_with(status, false)
    }

    /// An `{error}` though the request is processed.
    pub(crate) fn fail_after(status: StatusCode) -> Self {
        Self::answer_with(status, true)
    }

    fn answer_with(status: StatusCode, process: bool) -> Self {
        Self::Status {
            status: Status(status),
            body: None,
            content_type: None,
            headers: Headers::default(),
            process,
        }
    }

    /// Holds the request for as long as it has to be held, and then answers in
    /// place of the API, or spoils the answer that it gives.
    pub(crate) async fn strike(
        self,
        held: &Held,
        answer: impl Future<Output = Response>,
    ) -> Outcome {
        let mut fault = self;
        let mut answer = Answer::Coming(answer);
        while let Self::Hold { process, next } = fault {
            if process {
                answer = Answer::There(answer.take().await);
            }
            if held.wait().await.is_err() {
                return Outcome::Reset;
            }
            match next {
                Some(next) => fault = *next,
                None => return Outcome::Answer(answer.take().await),
            }
        }
        fault.spoil(answer.take()).await
    }

    async fn spoil(self, answer: impl Future<Output = Response>) -> Outcome {
        let response = match self {
            // Held by `strike` already.
            Self::Hold { .. } => answer.await,
            Self::Hang { process } => {
                if process {
                    answer.await;
                }
                return Outcome::Silence;
            }
            Self::Reset { process } => {
                if process {
                    answer.await;
                }
                return Outcome::Reset;
            }
            Self::CutBody { bytes } => {
                return Outcome::Cut(Taken::from(answer.await).await.cut_body(bytes));
            }
            Self::CutChunked { bytes } => {
                return Outcome::Cut(Taken::from(answer.await).await.cut_chunked(bytes));
            }
            Self::MalformedJson => Taken::from(answer.await).await.malformed(),
            Self::EmptyPage => tell(Lie::EmptyPage, answer).await,
            Self::RepeatCursor => tell(Lie::RepeatCursor, answer).await,
            Self::HasMoreFalse => tell(Lie::HasMoreFalse, answer).await,
            Self::SlowDrip {
                chunk_bytes,
                interval_ms,
            } => Taken::from(answer.await)
                .await
                .drip(chunk_bytes.get(), interval_ms.get()),
            Self::Delay { ms } => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                answer.await
            }
            Self::Status {
                status,
                body,
                content_type,
                headers,
                process,
            } => {
                if process {
                    answer.await;
                }
                plain(status.0, body, content_type, headers)
            }
            Self::Json { status, body } => (status.0, Json(body)).into_response(),
            Self::Html { status } => error_page(status.0),
            Self::Empty { status } => status.0.into_response(),
            Self::Redirect { status, location } => {
                (status.0, [(LOCATION, location.0)]).into_response()
            }
        };
        Outcome::Answer(response)
    }
}

async fn tell(lie: Lie, answer: impl Future<Output = Response>) -> Response {
    Taken::from(answer.await).await.with_lie(lie)
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
