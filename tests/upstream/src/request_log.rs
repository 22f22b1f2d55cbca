//! The log of received requests and the counters of their outcomes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use quillgate::Operation;
use serde::Serialize;

use crate::auth::Keys;
use crate::clock::Timestamp;
use crate::operation::MatchedOperation;
use crate::random::SplitMix64;

/// The capacity of the log, enough to archive a quarter with some failed requests.
const MAX_REQUESTS: usize = 2_500;
/// The maximum number of times stored per job or deployment.
const MAX_READ_TIMES: usize = 500;

/// The counters and the request log.
#[derive(Default)]
pub(crate) struct RequestLog {
    state: Mutex<LogState>,
}

#[derive(Default)]
struct LogState {
    /// Increases with each reset. Requests that began before a reset are not counted after it.
    generation: u64,
    request_count: u64,
    counters: Counters,
    requests: VecDeque<Arc<Received>>,
    reads: HashMap<String, Reads>,
}

/// The read requests for one job or deployment, regardless of their responses.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Reads {
    count: u64,
    /// The times of the last reads in milliseconds since the epoch, oldest first.
    at: VecDeque<u64>,
}

impl Reads {
    fn record(&mut self, now: u64) {
        self.count += 1;
        if self.at.len() == MAX_READ_TIMES {
            self.at.pop_front();
        }
        self.at.push_back(now);
    }
}

#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counters {
    requests: u64,
    by_operation: BTreeMap<&'static str, u64>,
    by_status: BTreeMap<u16, u64>,
    pub(crate) jobs_created: u64,
    pub(crate) messages_sent: u64,
    in_flight: u64,
    aborted: u64,
    /// Filled in by the control API.
    pub(crate) held: usize,
}

/// A received request without its key.
#[derive(Serialize)]
pub(crate) struct Received {
    operation: MatchedOperation,
    /// Milliseconds since the epoch.
    at: u64,
    method: String,
    target: String,
    /// The name of its key.
    key: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Received {
    pub(crate) fn new(
        operation: MatchedOperation,
        (parts, body): (&Parts, &[u8]),
        keys: &Keys,
        now: Timestamp,
    ) -> Self {
        let headers = parts.headers.iter().map(|(name, value)| {
            let value_text = if name == AUTHORIZATION {
                keys.name(Some(value)).to_owned()
            } else {
                keys.scrub(&String::from_utf8_lossy(value.as_bytes()))
            };
            (name.to_string(), value_text)
        });
        Self {
            operation,
            at: now.0,
            method: parts.method.to_string(),
            target: keys.scrub(&parts.uri.to_string()),
            key: keys.name(parts.headers.get(AUTHORIZATION)).to_owned(),
            headers: headers.collect(),
            body: keys.scrub(&String::from_utf8_lossy(body)),
        }
    }

    /// The id of the job or deployment that the request reads, from the last segment of the path.
    fn id_read(&self) -> Option<&str> {
        let path = self.target.split('?').next()?;
        let id = path.rsplit('/').next()?;
        let reads = [Operation::GetAgentJob, Operation::GetDeployment];
        let mut reads = reads.map(MatchedOperation::Operation).into_iter();
        reads.any(|read| read == self.operation).then_some(id)
    }
}

impl RequestLog {
    pub(crate) fn begin(self: &Arc<Self>, target: MatchedOperation) -> ActiveRequest {
        let mut state = self.state.lock();
        state.request_count += 1;
        let counters = &mut state.counters;
        counters.requests += 1;
        *counters.by_operation.entry(target.name()).or_default() += 1;
        counters.in_flight += 1;
        ActiveRequest {
            request_log: Arc::clone(self),
            generation: state.generation,
            number: state.request_count,
            open: true,
        }
    }

    pub(crate) fn log(&self, received: Received) {
        let mut state = self.state.lock();
        if state.requests.len() == MAX_REQUESTS {
            state.requests.pop_front();
        }
        if let Some(id) = received.id_read() {
            state
                .reads
                .entry(id.to_owned())
                .or_default()
                .record(received.at);
        }
        state.requests.push_back(Arc::new(received));
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.state.lock().counters);
    }

    pub(crate) fn counters(&self) -> Counters {
        let mut counters = self.state.lock().counters.clone();
        for operation in MatchedOperation::all() {
            counters.by_operation.entry(operation.name()).or_default();
        }
        counters
    }

    pub(crate) fn reads(&self, id: &str) -> Reads {
        let state = self.state.lock();
        state.reads.get(id).cloned().unwrap_or_default()
    }

    pub(crate) fn requests(&self) -> Vec<Arc<Received>> {
        self.state.lock().requests.iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        *state = LogState {
            generation: state.generation + 1,
            request_count: state.request_count,
            ..LogState::default()
        };
    }
}

/// A request from its arrival until its response is sent.
///
/// If it is dropped earlier, the client has disconnected and the request counts as aborted.
pub(crate) struct ActiveRequest {
    request_log: Arc<RequestLog>,
    generation: u64,
    number: u64,
    open: bool,
}

impl ActiveRequest {
    pub(crate) fn request_id(&self) -> String {
        format!("req_{:016x}", SplitMix64::new(self.number).next())
    }

    pub(crate) fn answered(&self, status: StatusCode) {
        self.count(|counters| *counters.by_status.entry(status.as_u16()).or_default() += 1);
    }

    /// Tracks the response until its body is sent.
    pub(crate) fn track(mut self, response: Response) -> Response {
        self.answered(response.status());
        response.map(|body| {
            if body.is_end_stream() {
                self.finish();
            }
            Body::new(TrackedBody {
                body,
                active_request: self,
            })
        })
    }

    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.open) {
            self.count(|counters| counters.in_flight -= 1);
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut state = self.request_log.state.lock();
        if state.generation == self.generation {
            change(&mut state.counters);
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if self.open {
            self.count(|counters| counters.aborted += 1);
        }
        self.finish();
    }
}

struct TrackedBody {
    body: Body,
    active_request: ActiveRequest,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.active_request.finish();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
