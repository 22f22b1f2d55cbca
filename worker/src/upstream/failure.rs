use quillgate::response::Head;
use quillgate::{ApiError, Method, Millis, Operation};
use serde_json::{Value, json};

use crate::budget::reservation::ReservationOutcome;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::upstream::head::UpstreamHead;
use crate::upstream::key_redaction::{find_key, parse_error_body, redact_text};
use crate::upstream::refusal::{Refusal, is_missing, read_messages};
use crate::upstream::upstream_settings::UpstreamSettings;

/// After a 429 or 503 without `Retry-After`.
pub const DEFAULT_RETRY_AFTER: Millis = Millis(60_000);
const MAX_QUOTED_CHARACTERS: usize = 500;

/// No response head arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportError {
    Broken,
    TimedOut,
}

/// The outcome to store under an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOutcome {
    /// The response, even an error.
    Store,
    /// Retries require `Idempotency-Retry: force`.
    Unknown,
    /// Nothing, because Mintlify did not process the request.
    Release,
}

impl KeyOutcome {
    /// `None` is an incomplete response. After a 408, part of the request may have been processed;
    /// after a 401, 403, 421, 425 or 429, nothing (RFC 9110, section 15.5.20, for 421; RFC 8470,
    /// section 5.2, for 425).
    pub const fn from_status(status: Option<u16>) -> Self {
        match status {
            None | Some(408) => Self::Unknown,
            Some(401 | 403 | 421 | 425 | 429) => Self::Release,
            Some(_) => Self::Store,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamFailure {
    pub problem: Problem,
    pub key_outcome: KeyOutcome,
    /// Mintlify refuses further requests for this time after a 429.
    pub closed_for: Option<Millis>,
    pub is_fault: bool,
    /// The request may have been processed.
    pub is_sent: bool,
    /// Mintlify does not know the job or the thread.
    pub is_missing: bool,
}

impl UpstreamFailure {
    pub fn not_sent(problem: Problem) -> Self {
        Self {
            is_sent: false,
            ..Self::released(problem)
        }
    }

    fn released(problem: Problem) -> Self {
        Self {
            problem,
            key_outcome: KeyOutcome::Release,
            closed_for: None,
            is_fault: false,
            is_sent: true,
            is_missing: false,
        }
    }

    /// Mintlify may have processed the request.
    pub fn is_uncertain(&self) -> bool {
        self.is_fault || self.key_outcome == KeyOutcome::Unknown
    }

    /// The same request can succeed later, so that stored data may serve until then.
    pub fn is_temporary(&self) -> bool {
        !self.is_sent || self.closed_for.is_some() || self.counts_against_upstream()
    }

    /// Redirects and malformed responses show that Mintlify is reachable. After a 429, the
    /// budget blocks requests instead.
    pub fn counts_against_upstream(&self) -> bool {
        let is_answer = matches!(
            self.problem.kind,
            ProblemKind::UpstreamMalformed | ProblemKind::UpstreamRedirect
        );
        self.is_fault && !is_answer
    }

    pub fn retry_after(&self) -> Option<Millis> {
        let mut headers = self.problem.headers.iter();
        let (_, seconds) = headers.find(|(name, _)| *name == "retry-after")?;
        seconds.parse().ok().map(Millis::from_seconds)
    }

    /// The path of a deployment names no project, so a 404 never rejects the project.
    pub fn of_operation(self, operation: Operation, status: u16) -> Self {
        let is_not_found = operation == Operation::GetDeployment && status == 404;
        let is_rejected = self.problem.kind == ProblemKind::UpstreamProject;
        if !is_not_found || !self.is_missing && !is_rejected {
            return self;
        }
        Self {
            problem: Problem::deployment_not_found(),
            is_missing: true,
            ..self
        }
    }

    fn fault(problem: Problem) -> Self {
        Self {
            key_outcome: KeyOutcome::Unknown,
            is_fault: true,
            ..Self::released(problem)
        }
    }

    fn malformed(detail: &str, method: Method) -> Self {
        let problem = Problem::new(ProblemKind::UpstreamMalformed, detail);
        Self::fault(mark_uncertain(problem, method))
    }
}

pub fn reservation_outcome<T>(result: &Result<T, UpstreamFailure>) -> ReservationOutcome {
    match result {
        Ok(_) => ReservationOutcome::Succeeded,
        Err(failure) => match failure.closed_for {
            Some(time) => ReservationOutcome::Blocked(time),
            None if failure.key_outcome == KeyOutcome::Release => ReservationOutcome::Released,
            None => ReservationOutcome::Counted,
        },
    }
}

pub fn classify_transport_error(error: TransportError, method: Method) -> UpstreamFailure {
    let problem = match error {
        TransportError::Broken => Problem::new(
            ProblemKind::UpstreamUnreachable,
            "the connection to Mintlify failed or was interrupted",
        ),
        TransportError::TimedOut => Problem::new(
            ProblemKind::UpstreamTimeout,
            "Mintlify did not respond in time",
        ),
    };
    UpstreamFailure::fault(mark_uncertain(problem, method))
}

/// The body of a 2xx is incomplete or unexpected.
pub fn classify_malformed(method: Method) -> UpstreamFailure {
    UpstreamFailure::malformed("Mintlify's response is incomplete or malformed", method)
}

/// The response contains one of the gateway's keys.
pub fn classify_leak(
    head: &UpstreamHead,
    body: &str,
    method: Method,
    settings: &UpstreamSettings,
) -> Option<UpstreamFailure> {
    let forwarded = head.forwarded_headers();
    let mut texts = forwarded.iter().map(|(_, value)| value).chain([body]);
    let variable = texts.find_map(|text| find_key(text, settings))?;
    let detail =
        "Mintlify's response contains a secret of the gateway; the gateway's log has the details";
    let operator = format!(
        "a response of Mintlify ({}) contains the value of {variable} and was withheld; replace \
         that key",
        head.status
    );
    let mut failure = UpstreamFailure::malformed(detail, method);
    failure.problem.operator = Some(operator);
    Some(failure)
}

pub fn classify_error(
    head: &UpstreamHead,
    body: &str,
    method: Method,
    settings: &UpstreamSettings,
    now: Millis,
) -> UpstreamFailure {
    let status = head.status;
    let key_outcome = KeyOutcome::from_status(Some(status));
    if matches!(status, 200..=299) {
        return UpstreamFailure::malformed("Mintlify's success response is not JSON", method);
    }
    if matches!(status, 300..=399) {
        let detail = "Mintlify responded with a redirect, which the gateway does not follow";
        let problem = Problem::new(ProblemKind::UpstreamRedirect, detail);
        return UpstreamFailure {
            key_outcome,
            ..UpstreamFailure::fault(mark_uncertain(problem, method))
        };
    }
    if let Some(refusal) = Refusal::classify(head, body) {
        return UpstreamFailure {
            // The network can block a write for the words of its prompt, which must not stop the
            // writes of other callers.
            is_fault: refusal == Refusal::Network && method == Method::Get,
            ..UpstreamFailure::released(refuse(refusal, head, body, method, settings))
        };
    }
    let error = read_api_error(head, body, settings, now);
    UpstreamFailure {
        key_outcome,
        closed_for: (status == 429).then(|| wait_after(&error)),
        is_fault: !(400..500).contains(&status),
        is_missing: is_missing(head, body),
        ..UpstreamFailure::released(error_problem(&error, method))
    }
}

/// `Retry-After` is at most Mintlify's window, after which earlier requests no longer count.
fn read_api_error(
    head: &UpstreamHead,
    body: &str,
    settings: &UpstreamSettings,
    now: Millis,
) -> ApiError {
    let body = parse_error_body(body, settings.all_keys());
    let field = |name| head.headers.get(name).map(str::to_owned);
    let head = Head {
        status: head.status,
        request_id: field("x-request-id"),
        retry_after: field("retry-after"),
        date: field("date"),
        location: field("location"),
    };
    let error = head.api_error(body.as_ref(), now);
    let wait = wait_after(&error).min(settings.limit_window);
    ApiError {
        retry_after: Some(wait.into()),
        ..error
    }
}

/// The caller receives the next step, and only the log quotes Mintlify's message.
fn refuse(
    refusal: Refusal,
    head: &UpstreamHead,
    body: &str,
    method: Method,
    settings: &UpstreamSettings,
) -> Problem {
    let status = head.status;
    let message = quote_message(head, body, settings);
    let (variable, _) = settings.keys(method);
    let (kind, detail, operator) = match refusal {
        Refusal::Key => (
            ProblemKind::UpstreamCredential,
            "Mintlify rejected the gateway's own key; the gateway's log has the details",
            format!(
                "Mintlify rejected {variable} with {status}: {message}; it may have expired, be \
                 limited to read or write, to other addresses, or belong to another organization"
            ),
        ),
        Refusal::Plan => (
            ProblemKind::UpstreamPlan,
            "the organization's plan at Mintlify does not include this operation; ask an \
             operator of the gateway to upgrade the plan",
            format!(
                "Mintlify requires another plan ({status}): {message}; upgrade the organization's \
                 plan"
            ),
        ),
        Refusal::Project => (
            ProblemKind::UpstreamProject,
            "Mintlify does not know this project, or the project belongs to another \
             organization; check its id, then ask an operator of the gateway",
            format!(
                "Mintlify rejected the project with {status}: {message}; check the project's id, \
                 and that {variable} belongs to the project's organization"
            ),
        ),
        Refusal::Network => {
            let is_ray = |ray: &&str| ray.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            let ray = head.headers.get("cf-ray").filter(is_ray).unwrap_or("none");
            (
                ProblemKind::UpstreamBlocked,
                "the network in front of Mintlify blocked the request; the gateway's log has the \
                 details",
                format!(
                    "the network in front of Mintlify blocked the request with {status} (cf-ray: \
                     {ray}): {message}; the key was not checked; ask Mintlify to allow the \
                     gateway's requests"
                ),
            )
        }
    };
    Problem::new(kind, detail).with_operator(operator)
}

/// The messages of a JSON error, the title of a page or the start of another body, without keys.
/// For an empty body, the meaning of the status.
fn quote_message(head: &UpstreamHead, body: &str, settings: &UpstreamSettings) -> String {
    let messages = read_messages(body);
    let text = if messages.is_empty() {
        find_title(body).unwrap_or(body)
    } else {
        &messages
    };
    // Cutting first could leave a part of a key.
    let text = redact_text(text, settings.all_keys());
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ").replace(char::is_control, "\u{fffd}");
    if text.is_empty() {
        let head = Head {
            status: head.status,
            ..Head::default()
        };
        return head.api_error(None::<&Value>, Millis(0)).message;
    }
    match text.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn find_title(page: &str) -> Option<&str> {
    let lower = page.to_ascii_lowercase();
    let at = lower.find("<title")?;
    let from = at + lower[at..].find('>')? + 1;
    let to = from + lower[from..].find('<')?;
    Some(&page[from..to])
}

/// A `GET` has no outcome, and a misconfigured gateway sends nothing.
pub fn mark_uncertain(problem: Problem, method: Method) -> Problem {
    match method {
        _ if problem.kind == ProblemKind::Misconfigured => problem,
        Method::Get => problem,
        Method::Post | Method::Delete => problem.with_member("outcome", "unknown".into()),
    }
}

pub fn error_problem(error: &ApiError, method: Method) -> Problem {
    let status = match error.status {
        status @ 400..=599 => status,
        _ => 502,
    };
    let upstream =
        json!({ "status": error.status, "error": error.message, "details": error.details });
    let mut problem = Problem::new(ProblemKind::UpstreamError, error.message.clone())
        .with_member("upstream", upstream);
    problem.status = status;
    if !error.details.is_empty() {
        let to_detail = |text: &String| json!({ "message": text });
        problem = problem.with_member("details", error.details.iter().map(to_detail).collect());
    }
    if matches!(status, 408 | 500..) {
        problem = mark_uncertain(problem, method);
    }
    if matches!(status, 429 | 503) {
        let wait = wait_after(error).0.div_ceil(1000);
        problem = problem.with_header("retry-after", wait.to_string());
    }
    problem
}

fn wait_after(error: &ApiError) -> Millis {
    let retry_after = error.retry_after.map(Millis::from);
    retry_after.unwrap_or(DEFAULT_RETRY_AFTER)
}
