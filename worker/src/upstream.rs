//! Requests upstream: with which key and how often they are sent, what an answer means, and which
//! problem a failure becomes.

pub mod breaker;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod breakers;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod client;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod connections;
pub mod metrics;
pub mod permits;
pub mod settings;
pub mod settlement;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod transport;

use std::borrow::Cow;

use quillgate::credential::AdminKey;
use quillgate::response::Head;
use quillgate::{ApiError, Method, Millis, Operation};
use serde_json::{Value, json};

use crate::budget;
use crate::budget::outcome::{SlotCount, SlotOutcome};
use crate::http::content::is_json;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::response::HeaderFields;
use crate::http::route;
use crate::http::url::decode_percent;
use crate::json;
use crate::upstream::breaker::{CallOutcome, Scope};
use crate::upstream::settings::UpstreamSettings;
use crate::upstream::settlement::{Settlement, settle};

/// What the gateway calls itself (RFC 9110, section 10.1.5).
pub const USER_AGENT: &str = concat!("quillgate/", env!("CARGO_PKG_VERSION"));
/// How long a caller is asked to wait when the upstream does not say.
pub const USUAL_WAIT: Millis = Millis(60_000);
/// The most bytes that are read of an error's body, for its message.
pub const MAX_ERROR_BYTES: u32 = 64 * 1024;
/// The most bytes that are read of a job; one has about 500.
pub const MAX_JOB_BYTES: u32 = 64 * 1024;
/// The most bytes that are read of a page of analytics; one of 250 rows has about 30 kB, and one
/// whose paths are as long as servers take them (16 kB) less than this.
pub const MAX_PAGE_BYTES: u32 = 4 * 1024 * 1024;

/// A request, without the base address and the credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// The body as JSON text.
    pub body: Option<String>,
    /// `traceparent`.
    pub traceparent: String,
    /// `tracestate`, if the trace is the caller's and has one.
    pub tracestate: Option<String>,
}

impl UpstreamRequest {
    /// The header fields with which it is sent.
    #[must_use]
    pub fn headers(&self, key: &AdminKey) -> HeaderFields {
        let mut headers = HeaderFields::default()
            .with("accept", "application/json")
            .with("authorization", ["Bearer ", key.expose()].concat())
            .with("traceparent", self.traceparent.clone())
            .with("user-agent", USER_AGENT);
        if let Some(tracestate) = &self.tracestate {
            headers.set("tracestate", tracestate.clone());
        }
        if self.body.is_some() {
            headers.set("content-type", "application/json");
        }
        headers
    }

    /// What the breakers count it under: the operation and the project that its address names.
    /// `None` for an address without an operation.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        let path = self.target.split('?').next()?;
        let route = route::find(self.method.as_str(), path).ok()?;
        let mut segments = route.segments.iter();
        let (_, project) = segments.find(|(name, _)| *name == "projectId")?;
        Some(Scope {
            operation: route.operation,
            project: decode_percent(project)?,
        })
    }

    /// How the breakers count its outcome. A failure counts once for each address; only creations,
    /// which all have the same, count each time.
    #[must_use]
    pub fn call_outcome(
        &self,
        scope: &Scope,
        failure: Option<&UpstreamFailure>,
    ) -> CallOutcome<'_> {
        match failure {
            Some(failure) if failure.counts_against_upstream() => CallOutcome::Failed(
                (scope.operation != Operation::CreateAgentJob).then_some(self.target.as_str()),
            ),
            _ => CallOutcome::Answered,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportError {
    /// The connection failed or broke.
    Broken,
    /// The head of an answer did not arrive in time.
    TimedOut,
}

/// The parts of the head of an answer that matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyHead {
    /// The status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<String>,
    /// `X-Request-Id`.
    pub request_id: Option<String>,
    /// `Content-Language`.
    pub content_language: Option<String>,
}

impl ReplyHead {
    /// Reads a head of which the fields are lines of `name: value`.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::upstream::ReplyHead;
    ///
    /// let head = ReplyHead::read(429, "content-type: text/html\nretry-after: 5\n");
    /// assert_eq!(head.retry_after.as_deref(), Some("5"));
    /// assert_eq!(head.request_id, None);
    /// ```
    #[must_use]
    pub fn read(status: u16, lines: &str) -> Self {
        let mut head = Self {
            status,
            ..Self::default()
        };
        for line in lines.split('\n') {
            // No name has a colon in it.
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let field = match name {
                "content-type" => &mut head.content_type,
                "retry-after" => &mut head.retry_after,
                "x-request-id" => &mut head.request_id,
                "content-language" => &mut head.content_language,
                _ => continue,
            };
            *field = Some(value.trim_start_matches(' ').to_owned());
        }
        head
    }

    /// Whether it is a success: any 2xx with JSON.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..=299).contains(&self.status) && is_json(self.content_type.as_deref())
    }

    /// The header fields that are forwarded with a success.
    #[must_use]
    pub fn forwarded_headers(&self) -> HeaderFields {
        let fields = [
            ("content-type", &self.content_type),
            ("content-language", &self.content_language),
        ];
        let present = |(name, value): (&'static str, &Option<String>)| Some((name, value.clone()?));
        fields.into_iter().filter_map(present).collect()
    }
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    /// Nothing: its answer counts.
    Stop,
    /// The same with the other key: this one was refused before anything was done, so that even a
    /// POST may be sent again.
    OtherKey,
    /// The same once more, if the budget allows it.
    Repeat,
}

/// The attempts of one request: with the newest key and, when that is not accepted, with the one
/// before; and a GET once more when another connection may do better.
#[derive(Debug)]
pub struct Attempts<'a> {
    keys: &'a [AdminKey],
    method: Method,
    key: usize,
    repeated: bool,
    deadline: Millis,
}

impl<'a> Attempts<'a> {
    /// The attempts of a request that has to be answered before `deadline`.
    #[must_use]
    pub fn new(settings: &'a UpstreamSettings, method: Method, deadline: Millis) -> Self {
        Self {
            keys: settings.keys(method),
            method,
            key: 0,
            repeated: false,
            deadline,
        }
    }

    /// The key with which to send it; `None` when there is none.
    #[must_use]
    pub fn key(&self) -> Option<&'a AdminKey> {
        self.keys.get(self.key)
    }

    /// What the operator has to fix although the request was answered: a new key that is not
    /// accepted is not seen otherwise until the old one is taken away.
    #[must_use]
    pub fn describe_refused_key(&self) -> Option<&'static str> {
        (self.key > 0)
            .then_some("the upstream refused the first of the gateway's keys (401) and was asked with the other")
    }

    /// How long the next attempt may take.
    #[must_use]
    pub fn time_left(&self, now: Millis) -> Millis {
        self.deadline.since(now)
    }

    /// Decides what follows an attempt, and selects the key for it.
    pub fn plan_next(
        &mut self,
        reply: Result<&ReplyHead, TransportError>,
        now: Millis,
    ) -> NextAttempt {
        if now >= self.deadline {
            return NextAttempt::Stop;
        }
        if reply.is_ok_and(|head| head.status == 401) && self.key + 1 < self.keys.len() {
            self.key += 1;
            return NextAttempt::OtherKey;
        }
        if self.method == Method::Get && !self.repeated && is_transient(reply) {
            self.repeated = true;
            self.key = 0;
            return NextAttempt::Repeat;
        }
        NextAttempt::Stop
    }
}

/// Whether a GET is worth one more attempt at once (RFC 9110, section 9.2.2): not when the upstream
/// itself asks to wait, nor after a timeout.
fn is_transient(reply: Result<&ReplyHead, TransportError>) -> bool {
    match reply {
        Err(error) => error == TransportError::Broken,
        Ok(head) => matches!(head.status, 502..=504) && head.retry_after.is_none(),
    }
}

/// A request that did not succeed, and what follows from that.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamFailure {
    /// The caller's answer.
    pub problem: Problem,
    /// What is kept under the idempotency key.
    pub settlement: Settlement,
    /// How long the upstream refuses further requests, when it answered 429.
    pub closed_for: Option<Millis>,
    /// What the operator has to fix.
    pub operator: Option<String>,
    /// Whether it counts as a failure of the upstream, for the breaker.
    pub is_fault: bool,
}

impl UpstreamFailure {
    /// Nothing was sent: the caller may try again, and the upstream is not to blame.
    #[must_use]
    pub fn not_sent(problem: Problem) -> Self {
        Self {
            problem,
            settlement: Settlement::Forget,
            closed_for: None,
            operator: None,
            is_fault: false,
        }
    }

    /// Whether the breaker counts it: a redirect and an answer of another shape are answers, so that
    /// the upstream is there.
    #[must_use]
    pub fn counts_against_upstream(&self) -> bool {
        let is_answer = matches!(
            self.problem.kind,
            ProblemKind::UpstreamMalformed | ProblemKind::UpstreamRedirect
        );
        self.is_fault && !is_answer
    }

    /// How long to wait before the next request, when the answer says so (`Retry-After`).
    #[must_use]
    pub fn retry_after(&self) -> Option<Millis> {
        let mut headers = self.problem.headers.iter();
        let (_, seconds) = headers.find(|(name, _)| *name == "retry-after")?;
        seconds.parse().ok().map(Millis::from_seconds)
    }

    const fn slot_outcome(&self) -> SlotOutcome {
        SlotOutcome::Failed {
            count: match self.settlement {
                Settlement::Forget => SlotCount::Release,
                Settlement::Store | Settlement::Unknown => SlotCount::Keep,
            },
            closed_for: self.closed_for,
        }
    }

    fn fault(problem: Problem) -> Self {
        Self {
            problem,
            settlement: Settlement::Unknown,
            closed_for: None,
            operator: None,
            is_fault: true,
        }
    }
}

/// How a request with this result counts in its budget.
#[must_use]
pub fn slot_outcome<T>(result: &Result<T, UpstreamFailure>) -> SlotOutcome {
    match result {
        Ok(_) => SlotOutcome::Succeeded,
        Err(failure) => failure.slot_outcome(),
    }
}

/// Classifies a request without an answer. If it changes something, nobody knows whether it was
/// carried out, and the problem says so.
#[must_use]
pub fn classify_transport_error(error: TransportError, method: Method) -> UpstreamFailure {
    let problem = match error {
        TransportError::Broken => Problem::new(
            ProblemKind::UpstreamUnreachable,
            "the connection to the upstream failed or broke",
        ),
        TransportError::TimedOut => Problem::new(
            ProblemKind::UpstreamTimeout,
            "the upstream did not answer in time",
        ),
    };
    UpstreamFailure::fault(mark_uncertain(problem, method))
}

/// Classifies a success whose body is not what was promised: it broke off, or has another shape.
#[must_use]
pub fn classify_malformed(method: Method) -> UpstreamFailure {
    let detail = "the upstream's answer broke off, or is not what it promises";
    let problem = Problem::new(ProblemKind::UpstreamMalformed, detail);
    UpstreamFailure::fault(mark_uncertain(problem, method))
}

/// Classifies a success that contains one of the gateway's keys, which would be passed on; `None` if
/// it contains none. A write may have been carried out, so its outcome is unknown.
#[must_use]
pub fn classify_leak(
    head: &ReplyHead,
    body: &str,
    method: Method,
    settings: &UpstreamSettings,
) -> Option<UpstreamFailure> {
    let forwarded = [&head.content_type, &head.content_language];
    let fields = forwarded.into_iter().flatten().map(String::as_str);
    let variable = fields
        .chain([body])
        .find_map(|text| find_key(text, settings))?;
    let detail =
        "the upstream's response contains a secret of the gateway; its operator can see more";
    let problem = Problem::new(ProblemKind::UpstreamMalformed, detail);
    let operator = format!(
        "a response of the upstream ({}) contains the value of {variable} and was withheld; replace \
         that key",
        head.status
    );
    Some(UpstreamFailure {
        operator: Some(operator),
        ..UpstreamFailure::fault(mark_uncertain(problem, method))
    })
}

/// Finds the variable whose key a string contains, plain or with JSON escapes.
fn find_key(text: &str, settings: &UpstreamSettings) -> Option<&'static str> {
    let text = unescape(text);
    let contains = |keys: &[AdminKey]| keys.iter().any(|key| text.contains(key.expose()));
    if contains(&settings.admin_keys) {
        return Some("ADMIN_API_KEY");
    }
    contains(&settings.read_keys).then_some("ADMIN_READ_KEY")
}

/// Decodes the JSON escapes (RFC 8259, section 7) that can hide characters of a key. The input is a
/// whole document, valid or not, so that names are searched as well as values.
fn unescape(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let hex = escape.strip_prefix('u').and_then(|hex| hex.get(..4));
        let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(code) = code {
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = &escape[5..];
        } else {
            let mut characters = escape.chars();
            text.extend(characters.next());
            rest = characters.as_str();
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Classifies an answer that is not a success by [`ReplyHead::is_success`]; `body` is its text.
#[must_use]
pub fn classify_error(
    head: &ReplyHead,
    body: &str,
    method: Method,
    settings: &UpstreamSettings,
    now: Millis,
) -> UpstreamFailure {
    let status = head.status;
    match status {
        200..=299 => {
            let detail = "the upstream answered with a success that is not JSON";
            let problem = Problem::new(ProblemKind::UpstreamMalformed, detail);
            UpstreamFailure::fault(mark_uncertain(problem, method))
        }
        300..=399 => {
            let detail = "the upstream answered with a redirect, which is never followed";
            let problem = Problem::new(ProblemKind::UpstreamRedirect, detail);
            UpstreamFailure {
                settlement: settle(Some(status)),
                ..UpstreamFailure::fault(mark_uncertain(problem, method))
            }
        }
        401 | 403 => {
            let error = read_api_error(head, body, settings, now);
            let operator =
                describe_key_refusal(settings.key_variable(method), status, &error.message);
            UpstreamFailure {
                problem: key_refused_problem(),
                settlement: settle(Some(status)),
                closed_for: None,
                operator: Some(operator),
                is_fault: false,
            }
        }
        _ => {
            let error = read_api_error(head, body, settings, now);
            let closed = budget::plan_closure(error.retry_after, settings.limit_window);
            UpstreamFailure {
                problem: error_problem(&error, method),
                settlement: settle(Some(status)),
                closed_for: (status == 429).then_some(closed),
                operator: None,
                is_fault: !(400..500).contains(&status),
            }
        }
    }
}

fn read_api_error(
    head: &ReplyHead,
    body: &str,
    settings: &UpstreamSettings,
    now: Millis,
) -> ApiError {
    let keys = settings.admin_keys.iter().chain(&settings.read_keys);
    let body = parse_error_body(body, keys);
    let head = Head {
        status: head.status,
        request_id: head.request_id.clone(),
        retry_after: head.retry_after.clone(),
    };
    head.api_error(body.as_ref(), now)
}

/// The problem when the upstream does not accept an admin key. It is not the caller's fault; the
/// log says more.
#[must_use]
pub fn key_refused_problem() -> Problem {
    let detail = "the upstream does not accept the gateway's own key; its operator can see more";
    Problem::new(ProblemKind::UpstreamCredential, detail)
}

/// Describes for the log that the upstream does not accept an admin key; `message` is the
/// upstream's own, without the key.
#[must_use]
pub fn describe_key_refusal(variable: &str, status: u16, message: &str) -> String {
    format!(
        "the upstream refused {variable} with {status}: {message}; it may have expired, be \
         limited to read or write, to other addresses, or belong to another organisation"
    )
}

/// Adds to a problem, after a request that changes something, that nobody knows whether it was
/// carried out.
#[must_use]
pub fn mark_uncertain(problem: Problem, method: Method) -> Problem {
    match method {
        Method::Get => problem,
        Method::Post | Method::Delete => problem.with_member("outcome", "unknown".into()),
    }
}

/// Parses the body of an upstream's error; `None` when it is not JSON. Admin keys are removed: an
/// upstream that repeats one must not make the gateway pass it on or log it.
#[must_use]
pub fn parse_error_body<'a>(
    body: &str,
    keys: impl IntoIterator<Item = &'a AdminKey>,
) -> Option<Value> {
    let mut value = json::parse(body.as_bytes())?;
    let mut keys: Vec<_> = keys.into_iter().map(AdminKey::expose).collect();
    // The longest key first: if one is the beginning of another, the rest of that would be left.
    while let Some((at, key)) = find_longest(&keys) {
        redact(&mut value, key);
        keys.swap_remove(at);
    }
    Some(value)
}

fn find_longest<'a>(keys: &[&'a str]) -> Option<(usize, &'a str)> {
    let lengths = keys.iter().copied().enumerate();
    lengths.max_by_key(|(_, key)| key.len())
}

/// Removes a key from texts after they are decoded, so that no escape can hide it. Names of members
/// are not passed on.
fn redact(value: &mut Value, key: &str) {
    match value {
        Value::String(text) => *text = text.replace(key, "[key]"),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, key)),
        Value::Object(members) => members.values_mut().for_each(|item| redact(item, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Turns the upstream's own error into a problem, with its status and its message. A status outside
/// of 400 to 599 becomes 502.
#[must_use]
pub fn error_problem(error: &ApiError, method: Method) -> Problem {
    let status = match error.status {
        status @ 400..=599 => status,
        _ => 502,
    };
    let upstream =
        json!({ "status": error.status, "error": error.message, "details": error.details });
    let problem = Problem::new(ProblemKind::UpstreamError, error.message.clone())
        .with_status(status)
        .with_member("upstream", upstream);
    let problem = if error.details.is_empty() {
        problem
    } else {
        let shaped = |text: &String| json!({ "message": text });
        problem.with_member("details", error.details.iter().map(shaped).collect())
    };
    let problem = match status {
        408 | 500.. => mark_uncertain(problem, method),
        _ => problem,
    };
    let wait = error.retry_after.unwrap_or(USUAL_WAIT).0.div_ceil(1000);
    match status {
        429 | 503 => problem.with_header("retry-after", wait.to_string()),
        _ => problem,
    }
}
