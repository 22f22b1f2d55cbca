//! Faults: queueing them, and what each does to an answer.

use std::collections::{BTreeMap, VecDeque};
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::body::{CutBody, DripBody};
use crate::held::Held;
use crate::operation::Operation;

/// A fault, and the requests that meet it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Order {
    operation: Option<Operation>,
    /// A part of the path and query.
    target: Option<String>,
    times: Option<u64>,
    #[serde(default)]
    after: u64,
    fault: Fault,
}

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
    SlowDrip {
        chunk_bytes: NonZeroUsize,
        interval_ms: NonZeroU64,
    },
}

/// A status that can end an exchange.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u16")]
pub(crate) struct Status(StatusCode);

impl TryFrom<u16> for Status {
    type Error = &'static str;

    fn try_from(code: u16) -> Result<Self, Self::Error> {
        let status = StatusCode::from_u16(code)
            .ok()
            .filter(|status| !status.is_informational());
        status.map(Self).ok_or("status must be from 200 to 999")
    }
}

/// Text that can be a header's value.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Text(HeaderValue);

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        HeaderValue::try_from(text)
            .map(Self)
            .map_err(|_| "not a header value")
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Text>")]
pub(crate) struct Headers(HeaderMap);

impl TryFrom<BTreeMap<String, Text>> for Headers {
    type Error = &'static str;

    fn try_from(fields: BTreeMap<String, Text>) -> Result<Self, Self::Error> {
        let headers = fields.into_iter().map(|(name, Text(value))| {
            let name = HeaderName::try_from(name).map_err(|_| "not a header name")?;
            Ok((name, value))
        });
        headers.collect::<Result<_, _>>().map(Self)
    }
}

/// What is to be done with a request in the end.
pub(crate) enum Outcome {
    Answer(Response),
    /// An answer whose body ends the connection too early.
    Cut(Response),
    Silence,
    Reset,
}

/// Faults in the order in which they strike.
#[derive(Default)]
pub(crate) struct FaultQueue(VecDeque<Order>);

impl FaultQueue {
    pub(crate) fn push(&mut self, order: Order) {
        self.0.push_back(order);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Drops the orders to hold requests.
    pub(crate) fn drop_holds(&mut self) {
        self.0
            .retain(|order| !matches!(order.fault, Fault::Hold { .. }));
    }

    /// The fault that this request meets, by the first order that matches it.
    pub(crate) fn next(&mut self, operation: Operation, target: &str) -> Option<Fault> {
        let matches = |order: &Order| order.matches(operation, target);
        let at = self.0.iter().position(matches)?;
        let order = self.0.get_mut(at)?;
        if order.after > 0 {
            order.after -= 1;
            return None;
        }
        match order.times.unwrap_or(1) {
            0 => Some(order.fault.clone()),
            1 => self.0.remove(at).map(|order| order.fault),
            times => {
                order.times = Some(times - 1);
                Some(order.fault.clone())
            }
        }
    }
}

impl Order {
    fn matches(&self, operation: Operation, target: &str) -> bool {
        let part = self.target.as_deref();
        self.operation.is_none_or(|wanted| wanted == operation)
            && part.is_none_or(|part| target.contains(part))
    }
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
            Self::EmptyPage => Taken::from(answer.await).await.empty_page(),
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

/// A real answer, taken apart to be spoilt.
struct Taken {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Taken {
    async fn from(response: Response) -> Self {
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        Self {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap_or_default(),
        }
    }

    fn with(self, body: Body) -> Response {
        (self.status, self.headers, body).into_response()
    }

    fn half(&self) -> Bytes {
        self.body.slice(..self.body.len() / 2)
    }

    /// Always short of at least one byte of what it announces.
    fn cut_body(mut self, bytes: Option<usize>) -> Response {
        let whole = self.body.len();
        self.headers
            .insert(CONTENT_LENGTH, HeaderValue::from(whole));
        let sent = bytes.unwrap_or(whole / 2).min(whole.saturating_sub(1));
        self.cut_chunked(Some(sent))
    }

    /// A body of unknown length is sent in chunks.
    fn cut_chunked(self, bytes: Option<usize>) -> Response {
        let sent = bytes.unwrap_or(self.body.len() / 2).min(self.body.len());
        let sent = self.body.slice(..sent);
        self.with(Body::new(CutBody::after(sent)))
    }

    fn malformed(mut self) -> Response {
        self.status = StatusCode::OK;
        let half = self.half();
        self.with(Body::from(half))
    }

    fn empty_page(mut self) -> Response {
        self.status = StatusCode::OK;
        let real: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let totals = match real.get("totals") {
            Some(totals) => totals.clone(),
            None => json!({ "human": 0, "ai": 0, "total": 0 }),
        };
        let page = json!({ "totals": totals, "views": [], "hasMore": true });
        self.with(Body::from(page.to_string()))
    }

    fn drip(self, piece: usize, interval_ms: u64) -> Response {
        let interval = tokio::time::interval(Duration::from_millis(interval_ms));
        let body = DripBody::new(self.body.clone(), piece, interval);
        self.with(Body::new(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(orders: Value) -> FaultQueue {
        FaultQueue(serde_json::from_value(orders).expect("orders"))
    }

    fn kinds(queue: &mut FaultQueue, operations: &[Operation]) -> Vec<Option<&'static str>> {
        let kind = |fault| match fault {
            Fault::Hang { .. } => "hang",
            Fault::Hold { .. } => "hold",
            Fault::EmptyPage => "emptyPage",
            _ => "another",
        };
        operations
            .iter()
            .map(|operation| queue.next(*operation, "/").map(kind))
            .collect()
    }

    #[test]
    fn faults_strike_in_order_and_as_often_as_ordered() {
        let mut queue = queue(json!([
            { "times": 2, "fault": { "kind": "hang" } },
            { "after": 1, "fault": { "kind": "emptyPage" } },
        ]));
        let struck = kinds(&mut queue, &[Operation::ListViews; 5]);
        assert_eq!(
            struck,
            [Some("hang"), Some("hang"), None, Some("emptyPage"), None]
        );
    }

    #[test]
    fn a_fault_waits_for_its_operation() {
        let mut queue = queue(json!([
            { "operation": "agentJobs.get", "fault": { "kind": "hang" } },
            { "fault": { "kind": "emptyPage" } },
        ]));
        let operations = [
            Operation::ListViews,
            Operation::ListViews,
            Operation::GetJob,
        ];
        assert_eq!(
            kinds(&mut queue, &operations),
            [Some("emptyPage"), None, Some("hang")]
        );
    }

    #[test]
    fn a_fault_waits_for_its_target() {
        let mut queue = queue(json!([{ "target": "offset=250", "fault": { "kind": "hang" } }]));
        assert!(
            queue
                .next(Operation::ListViews, "/views?offset=0")
                .is_none()
        );
        assert!(
            queue
                .next(Operation::ListViews, "/views?offset=250")
                .is_some()
        );
    }

    #[test]
    fn holds_are_dropped_and_other_faults_stay() {
        let mut queue = queue(json!([
            { "fault": { "kind": "hold", "next": { "kind": "hang" } } },
            { "fault": { "kind": "emptyPage" } },
        ]));
        queue.drop_holds();
        assert_eq!(kinds(&mut queue, &[Operation::Other]), [Some("emptyPage")]);
    }

    #[test]
    fn times_zero_lasts_until_cleared() {
        let mut queue = queue(json!([{ "times": 0, "fault": { "kind": "hang" } }]));
        assert_eq!(kinds(&mut queue, &[Operation::Other; 3]), [Some("hang"); 3]);
        queue.clear();
        assert_eq!(kinds(&mut queue, &[Operation::Other]), [None]);
    }

    #[test]
    fn a_fault_that_makes_no_sense_is_not_accepted() {
        for fault in [
            json!({ "kind": "unknown" }),
            json!({ "kind": "status" }),
            json!({ "kind": "status", "status": 101 }),
            json!({ "kind": "hold", "next": { "kind": "unknown" } }),
            json!({ "kind": "cutBody", "bytes": -1 }),
            json!({ "kind": "status", "status": 500, "headers": { "a b": "c" } }),
            json!({ "kind": "status", "status": 500, "retries": 1 }),
            json!({ "kind": "slowDrip", "chunkBytes": 0, "intervalMs": 1 }),
            json!({ "kind": "redirect", "status": 302, "location": "a\nb" }),
        ] {
            let order = json!({ "fault": fault });
            assert!(
                serde_json::from_value::<Order>(order.clone()).is_err(),
                "{order}"
            );
        }
    }
}
