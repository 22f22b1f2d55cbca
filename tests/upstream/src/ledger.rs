//! What was received, and what became of it.

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
use crate::clock::Moment;
use crate::operation::Target;
use crate::random::SplitMix64;

/// An archive of a quarter, with what goes wrong on its way.
const KEPT_REQUESTS: usize = 2_500;
/// Of each job.
const KEPT_READS: usize = 500;

/// The counters and the request log.
#[derive(Default)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    /// Grows with each reset: what began before one is not counted after it.
    edition: u64,
    visits: u64,
    counters: Counters,
    requests: VecDeque<Arc<Received>>,
    reads: HashMap<String, Reads>,
}

/// The requests for one job, whatever they were answered.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Reads {
    count: u64,
    /// When the last of them came, in milliseconds since the epoch, oldest first.
    at: VecDeque<u64>,
}

impl Reads {
    fn note(&mut self, now: u64) {
        self.count += 1;
        if self.at.len() == KEPT_READS {
            self.at.pop_front();
        }
        self.at.push_back(now);
    }
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counters {
    requests: u64,
    by_operation: BTreeMap<&'static str, u64>,
    by_status: BTreeMap<u16, u64>,
    jobs_created: u64,
    messages_sent: u64,
    in_flight: u64,
    max_in_flight: u64,
    aborted: u64,
    /// Filled in by the control route: not the ledger's to know.
    pub(crate) held: usize,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            requests: 0,
            by_operation: Target::all().map(|target| (target.name(), 0)).collect(),
            by_status: BTreeMap::new(),
            jobs_created: 0,
            messages_sent: 0,
            in_flight: 0,
            max_in_flight: 0,
            aborted: 0,
            held: 0,
        }
    }
}

/// A request as it was received, without its key.
#[derive(Serialize)]
pub(crate) struct Received {
    operation: Target,
    /// Milliseconds since the epoch.
    at: u64,
    method: String,
    target: String,
    /// The state of its key.
    authorization: &'static str,
    /// The name of its key.
    key: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Received {
    pub(crate) fn new(
        operation: Target,
        (parts, body): (&Parts, &[u8]),
        keys: &Keys,
        now: Moment,
    ) -> Self {
        let headers = parts.headers.iter().map(|(name, value)| {
            let shown = if name == AUTHORIZATION {
                keys.label(Some(value)).to_owned()
            } else {
                keys.scrub(&String::from_utf8_lossy(value.as_bytes()))
            };
            (name.to_string(), shown)
        });
        Self {
            operation,
            at: now.0,
            method: parts.method.to_string(),
            target: keys.scrub(&parts.uri.to_string()),
            authorization: keys.label(parts.headers.get(AUTHORIZATION)),
            key: keys.name(parts.headers.get(AUTHORIZATION)).to_owned(),
            headers: headers.collect(),
            body: keys.scrub(&String::from_utf8_lossy(body)),
        }
    }

    /// The job that is asked for, by the last segment of the path.
    fn job_read(&self) -> Option<&str> {
        let path = self.target.split('?').next()?;
        let id = path.rsplit('/').next()?;
        (self.operation == Target::Operation(Operation::GetAgentJob)).then_some(id)
    }
}

impl Ledger {
    pub(crate) fn arrive(self: &Arc<Self>, target: Target) -> Visit {
        let mut book = self.book.lock();
        book.visits += 1;
        let counters = &mut book.counters;
        counters.requests += 1;
        *counters.by_operation.entry(target.name()).or_default() += 1;
        counters.in_flight += 1;
        counters.max_in_flight = counters.max_in_flight.max(counters.in_flight);
        Visit {
            ledger: Arc::clone(self),
            edition: book.edition,
            number: book.visits,
            open: true,
        }
    }

    pub(crate) fn log(&self, received: Received) {
        let mut book = self.book.lock();
        if book.requests.len() == KEPT_REQUESTS {
            book.requests.pop_front();
        }
        if let Some(id) = received.job_read() {
            book.reads
                .entry(id.to_owned())
                .or_default()
                .note(received.at);
        }
        book.requests.push_back(Arc::new(received));
    }

    pub(crate) fn job_created(&self) {
        self.book.lock().counters.jobs_created += 1;
    }

    pub(crate) fn message_sent(&self) {
        self.book.lock().counters.messages_sent += 1;
    }

    pub(crate) fn counters(&self) -> Counters {
        self.book.lock().counters.clone()
    }

    pub(crate) fn reads(&self, job: &str) -> Reads {
        let book = self.book.lock();
        book.reads.get(job).cloned().unwrap_or_default()
    }

    pub(crate) fn requests(&self) -> Vec<Arc<Received>> {
        self.book.lock().requests.iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        let mut book = self.book.lock();
        *book = Book {
            edition: book.edition + 1,
            visits: book.visits,
            ..Book::default()
        };
    }
}

/// One request from its arrival until its answer is sent. Dropped before that,
/// it counts as aborted: the client has gone.
pub(crate) struct Visit {
    ledger: Arc<Ledger>,
    edition: u64,
    number: u64,
    open: bool,
}

impl Visit {
    pub(crate) fn request_id(&self) -> String {
        format!("req_{:016x}", SplitMix64::new(self.number).next())
    }

    pub(crate) fn answered(&self, status: StatusCode) {
        self.count(|counters| *counters.by_status.entry(status.as_u16()).or_default() += 1);
    }

    /// Stays with the answer until the last of its body is taken.
    pub(crate) fn follow(mut self, response: Response) -> Response {
        self.answered(response.status());
        response.map(|body| {
            if body.is_end_stream() {
                self.finish();
            }
            Body::new(Followed { body, visit: self })
        })
    }

    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.open) {
            self.count(|counters| counters.in_flight -= 1);
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut book = self.ledger.book.lock();
        if book.edition == self.edition {
            change(&mut book.counters);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if self.open {
            self.count(|counters| counters.aborted += 1);
        }
        self.finish();
    }
}

struct Followed {
    body: Body,
    visit: Visit,
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.visit.finish();
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
