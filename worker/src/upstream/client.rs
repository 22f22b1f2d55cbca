//! The client that sends requests to Mintlify.

use js_sys::JsString;
use quillgate::credential::AdminKey;
use quillgate::declaration::Pagination;
use quillgate::export::check_page;
use quillgate::schema::{Described as _, check};
use quillgate::{AgentJob, Method, Millis, Operation, PageSize};
use serde_json::Value;

use crate::http::problem::Problem;
use crate::json;
use crate::runtime::now;
use crate::upstream::attempts::{Attempts, NextAttempt};
use crate::upstream::breaker::Scope;
use crate::upstream::breakers::with_breakers;
use crate::upstream::failure::{
    UpstreamFailure, classify_error, classify_leak, classify_malformed, classify_transport_error,
};
use crate::upstream::head::UpstreamHead;
use crate::upstream::metrics::ExchangeMetrics;
use crate::upstream::request::UpstreamRequest;
use crate::upstream::settings::UpstreamSettings;
use crate::upstream::transport::{Message, Outgoing, send};
use crate::upstream::transport_error::TransportError;

/// The maximum number of bytes to read of an error, for its message.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// The maximum number of bytes to read of a job. Typical jobs have 500.
const MAX_JOB_BYTES: usize = 64 * 1024;
/// The maximum number of bytes to read of a page of analytics. A typical page of 250 rows has 30 kB;
/// one with paths of 16 kB, the maximum of common servers, still fits.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// A finished request.
#[derive(Clone)]
pub struct Exchange<T> {
    /// For the log and `Server-Timing`.
    pub metrics: ExchangeMetrics,
    /// The checked response or the failure.
    pub outcome: Result<T, UpstreamFailure>,
}

/// A response with a job, for forwarding.
pub struct JobReply {
    /// The head of the response.
    pub head: UpstreamHead,
    /// The unchanged body, including unknown members.
    pub text: String,
}

impl JobReply {
    pub(crate) fn read(head: UpstreamHead, text: String) -> Option<Self> {
        parse_job(&text)?;
        Some(Self { head, text })
    }
}

/// Parses a job and checks it like the npm package.
fn parse_job(text: &str) -> Option<Value> {
    let job = json::parse(text.as_bytes())?;
    check(&job, &AgentJob::KIND).ok().map(|()| job)
}

/// A response with a job, for storage.
#[derive(Clone)]
pub struct JobSnapshot {
    /// The HTTP status of the response.
    pub http_status: u16,
    /// The unchanged body.
    pub text: String,
    /// The body without insignificant whitespace, as in tables and event streams.
    pub data: String,
    /// The job's id.
    pub id: Option<String>,
    /// The job's status.
    pub status: Option<String>,
    /// The URL of the job's pull request.
    pub pr_link: Option<String>,
}

impl JobSnapshot {
    pub(crate) fn read(head: &UpstreamHead, text: String) -> Option<Self> {
        let job = parse_job(&text)?;
        let member = |name| json::text(&job, name).map(str::to_owned);
        Some(Self {
            http_status: head.status,
            // The parsed value has another order of members.
            data: json::compact(&text),
            id: member("id"),
            status: member("status"),
            pr_link: member("prLink"),
            text,
        })
    }
}

/// A response with a page of analytics.
pub struct PageReply {
    /// The unchanged body, outside of the memory of the wasm module.
    pub text: JsString,
    /// The number of rows.
    pub rows: u64,
    /// Whether another page exists.
    pub has_more: bool,
}

impl PageReply {
    /// Checks a page against the declaration of its operation. Rows are counted, not checked.
    pub fn read(operation: Operation, text: &str) -> Option<Self> {
        let pagination = operation.declaration().pagination;
        let member = pagination.rows();
        let end = check_page(text, operation.result(), member).ok()?;
        let rows = if member.is_some() { end.rows } else { 1 };
        let is_by_offset = matches!(pagination, Pagination::Offset { .. });
        let has_more = is_by_offset && end.has_more?;
        (!is_by_offset || rows <= PageSize::MAX.get()).then(|| Self {
            text: text.into(),
            rows,
            has_more,
        })
    }
}

/// A response with its body.
struct Answer {
    head: UpstreamHead,
    /// The body of a 2xx response.
    text: Option<String>,
    /// The body of an error.
    error: String,
}

/// A request that its breaker admits.
pub struct Admitted {
    scope: Option<Scope>,
    /// The instant at which the request started.
    pub started: Millis,
}

/// Sends requests upstream.
pub struct UpstreamClient<'a> {
    settings: &'a UpstreamSettings,
}

impl<'a> UpstreamClient<'a> {
    /// Creates a client with these settings.
    pub const fn new(settings: &'a UpstreamSettings) -> Self {
        Self { settings }
    }

    /// Sends a request that returns a job, and reads the job for forwarding.
    pub async fn read_job(&self, request: &UpstreamRequest) -> Exchange<JobReply> {
        let admitted = match self.admit(request) {
            Ok(admitted) => admitted,
            Err(problem) => return Exchange::not_sent(problem),
        };
        let mut attempts = self.attempts(request, admitted.started);
        let free = &mut || true;
        let answer = self.attempt(request, MAX_JOB_BYTES, &mut attempts, free);
        let answer = answer.await;
        let note = attempts.describe_refused_key();
        let mut reply = None;
        let mut read = |head, text| {
            reply = JobReply::read(head, text);
            reply.is_some()
        };
        let exchange = self.conclude(request, &admitted, answer, note, &mut read);
        exchange.with(reply)
    }

    /// Sends a request that returns a job, and reads the job for storage.
    pub async fn take_snapshot(&self, request: &UpstreamRequest) -> Exchange<JobSnapshot> {
        let mut snapshot = None;
        let free = &mut || true;
        let mut read = |head, text| {
            snapshot = JobSnapshot::read(&head, text);
            snapshot.is_some()
        };
        let exchange = self.ask(request, MAX_JOB_BYTES, free, &mut read);
        exchange.await.with(snapshot)
    }

    /// Sends a request that returns a page of analytics. `read` checks the page. `pay` reserves budget
    /// for each further attempt.
    pub async fn read_page(
        &self,
        request: &UpstreamRequest,
        pay: &mut dyn FnMut() -> bool,
        read: &mut dyn FnMut(String) -> bool,
    ) -> Exchange<()> {
        let mut read = |_, text| read(text);
        let exchange = self.ask(request, MAX_PAGE_BYTES, pay, &mut read);
        exchange.await
    }

    /// Sends a request. `read` receives the body of a success and returns whether it is valid.
    async fn ask(
        &self,
        request: &UpstreamRequest,
        max_bytes: usize,
        pay: &mut dyn FnMut() -> bool,
        read: &mut dyn FnMut(UpstreamHead, String) -> bool,
    ) -> Exchange<()> {
        let admitted = match self.admit(request) {
            Ok(admitted) => admitted,
            Err(problem) => return Exchange::not_sent(problem),
        };
        let mut attempts = self.attempts(request, admitted.started);
        let answer = self.attempt(request, max_bytes, &mut attempts, pay);
        let answer = answer.await;
        let note = attempts.describe_refused_key();
        self.conclude(request, &admitted, answer, note, read)
    }

    /// Admits a request unless its breaker is open.
    ///
    /// # Errors
    /// 503 while the breaker is open.
    #[expect(clippy::unused_self, reason = "a step of what the client does")]
    pub fn admit(&self, request: &UpstreamRequest) -> Result<Admitted, Problem> {
        let scope = request.scope();
        let started = now();
        if let Some(scope) = &scope {
            with_breakers(|breakers| breakers.allow(scope, started))?;
        }
        Ok(Admitted { scope, started })
    }

    /// Creates the attempts of a request that started at `started`.
    pub fn attempts(&self, request: &UpstreamRequest, started: Millis) -> Attempts<'a> {
        let deadline = started.plus(self.settings.timeout);
        Attempts::new(self.settings, request.method, deadline)
    }

    /// Sends a request and repeats it if [`Attempts`] and `pay` allow it.
    async fn attempt(
        &self,
        request: &UpstreamRequest,
        max_bytes: usize,
        attempts: &mut Attempts<'a>,
        pay: &mut dyn FnMut() -> bool,
    ) -> Result<Answer, TransportError> {
        let url = self.settings.base_url.join(&request.target);
        loop {
            let Some(key) = attempts.key() else {
                return Err(TransportError::Broken);
            };
            let sent = send(write_request(request, attempts, key, &url)).await;
            let sent = sent.map(|message| (message.head.clone(), message));
            let next = match &sent {
                Ok((head, _)) => attempts.plan_next(Ok(head), now()),
                Err(error) => attempts.plan_next(Err(*error), now()),
            };
            let is_again = match next {
                NextAttempt::Stop => false,
                NextAttempt::OtherKey => true,
                NextAttempt::Repeat => pay(),
            };
            match sent {
                _ if is_again => {}
                Ok((head, message)) => return Ok(read_answer(head, message, max_bytes).await),
                Err(error) => return Err(error),
            }
        }
    }

    fn conclude(
        &self,
        request: &UpstreamRequest,
        admitted: &Admitted,
        answer: Result<Answer, TransportError>,
        note: Option<&'static str>,
        read: &mut dyn FnMut(UpstreamHead, String) -> bool,
    ) -> Exchange<()> {
        let status = answer.as_ref().ok().map(|answer| answer.head.status);
        let answer = self.classify(request.method, answer);
        let outcome = answer.and_then(|(head, text)| {
            let malformed = || classify_malformed(request.method);
            read(head, text).then_some(()).ok_or_else(malformed)
        });
        let failure = outcome.as_ref().err();
        let now = now();
        record_outcome(request, admitted.scope.as_ref(), failure, now);
        Exchange {
            metrics: ExchangeMetrics {
                status,
                milliseconds: now.since(admitted.started).0,
                operator: failure
                    .and_then(|failure| failure.operator.clone())
                    .or_else(|| note.map(str::to_owned)),
            },
            outcome,
        }
    }

    /// Returns the head and body of a success, or the failure.
    fn classify(
        &self,
        method: Method,
        answer: Result<Answer, TransportError>,
    ) -> Result<(UpstreamHead, String), UpstreamFailure> {
        match answer {
            Err(error) => Err(classify_transport_error(error, method)),
            Ok(Answer { head, text, .. }) if head.is_success() => {
                let text = text.ok_or_else(|| classify_malformed(method))?;
                let leak = classify_leak(&head, &text, method, self.settings);
                leak.map_or(Ok((head, text)), Err)
            }
            Ok(Answer { head, error, .. }) => {
                Err(classify_error(&head, &error, method, self.settings, now()))
            }
        }
    }
}

impl Exchange<()> {
    /// Adds the value that was read from a success.
    pub fn with<T>(self, read: Option<T>) -> Exchange<T> {
        let Self { metrics, outcome } = self;
        let malformed = || classify_malformed(Method::Get);
        let outcome = outcome.and_then(|()| read.ok_or_else(malformed));
        Exchange { metrics, outcome }
    }
}

/// Creates the outgoing message for an attempt with this key.
fn write_request<'a>(
    request: &'a UpstreamRequest,
    attempts: &Attempts<'_>,
    key: &AdminKey,
    url: &'a str,
) -> Outgoing<'a> {
    Outgoing {
        method: request.method.as_str(),
        url,
        headers: request.headers(key),
        body: request.body.as_deref(),
        time: attempts.time_left(now()),
    }
}

/// Records the outcome of a request in the breakers.
fn record_outcome(
    request: &UpstreamRequest,
    scope: Option<&Scope>,
    failure: Option<&UpstreamFailure>,
    now: Millis,
) {
    if let Some(scope) = scope {
        let counted = request.call_outcome(scope, failure);
        with_breakers(|breakers| breakers.record_outcome(scope, counted, now));
    }
}

impl<T> Exchange<T> {
    /// Creates the exchange of a request that was not sent.
    pub fn not_sent(problem: Problem) -> Self {
        Self {
            metrics: ExchangeMetrics::default(),
            outcome: Err(UpstreamFailure::not_sent(problem)),
        }
    }
}

async fn read_answer(head: UpstreamHead, message: Message, max_bytes: usize) -> Answer {
    let (text, error) = if (200..=299).contains(&head.status) {
        (message.read_text(max_bytes).await, None)
    } else {
        (None, message.read_text(MAX_ERROR_BYTES).await)
    };
    Answer {
        head,
        text,
        error: error.unwrap_or_default(),
    }
}
