//! What becomes of the upstream's answer: which are passed on, and which problem any
//! other is.

use quillgate::credential::AdminKey;
use quillgate::{ApiError, Method, Millis};
use serde_json::{Value, json};

use crate::content::is_json;
use crate::json;
use crate::problem::Problem;

/// Header fields of the upstream that are passed on with a success.
pub const PASSED_ON: [&str; 2] = ["content-type", "content-language"];

/// How long a caller is asked to wait when the upstream asks for nothing.
pub const USUAL_WAIT: Millis = Millis(60_000);

/// How no answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The connection failed or broke.
    Broken,
    /// No head of an answer in time.
    TimedOut,
}

/// What the head of an answer means.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// A success: its body is streamed to the caller.
    Success,
    /// The upstream's own error: its body is read for its message.
    Error,
    /// Not something to pass on.
    Problem(Problem),
    /// The admin key is not accepted: the operator's problem.
    KeyRefused,
}

/// Reads the head of an answer.
#[must_use]
pub fn reading(status: u16, content_type: Option<&str>) -> Reading {
    match status {
        200..=299 if is_json(content_type) => Reading::Success,
        200..=299 => Reading::Problem(Problem::new(
            502,
            "upstream-malformed",
            "Upstream gave no JSON",
            "the upstream answered with a success that is no JSON",
        )),
        300..=399 => Reading::Problem(Problem::new(
            502,
            "upstream-redirect",
            "Upstream redirected",
            "the upstream answered with a redirect, which is never followed",
        )),
        401 | 403 => Reading::KeyRefused,
        _ => Reading::Error,
    }
}

/// The problem of an admin key that the upstream does not accept. It is none of the
/// caller's: the log says more.
#[must_use]
pub fn key_refused() -> Problem {
    let detail = "the upstream does not accept the gateway's own key; its operator can see more";
    Problem::new(
        502,
        "upstream-credential",
        "Upstream refused the gateway",
        detail,
    )
}

/// The problem of a success whose body is not what was promised: broken off, or of another
/// shape.
#[must_use]
pub fn malformed(method: Method) -> Problem {
    let detail = "the upstream's answer broke off, or is not what it promises";
    let problem = Problem::new(502, "upstream-malformed", "Upstream gave no JSON", detail);
    uncertain(problem, method)
}

/// What the log says of an admin key that the upstream does not accept; `message` is the
/// upstream's own, without the key.
#[must_use]
pub fn key_trouble(variable: &str, status: u16, message: &str) -> String {
    format!(
        "the upstream refused {variable} with {status}: {message}; it may have expired, be \
         limited to read or write, to other addresses, or belong to another organisation"
    )
}

/// The problem of no answer. After a request that changes something, nobody knows
/// whether it was carried out, and the problem says so.
#[must_use]
pub fn silence(silence: Silence, method: Method) -> Problem {
    let problem = match silence {
        Silence::Broken => Problem::new(
            502,
            "upstream-unreachable",
            "Upstream gave no answer",
            "the connection to the upstream failed or broke",
        ),
        Silence::TimedOut => Problem::new(
            504,
            "upstream-timeout",
            "Upstream gave no answer in time",
            "the upstream did not answer in time",
        ),
    };
    uncertain(problem, method)
}

/// A problem after which nobody knows whether a request that changes something was carried
/// out: it says so.
#[must_use]
pub fn uncertain(problem: Problem, method: Method) -> Problem {
    match method {
        Method::Get => problem,
        Method::Post => problem.with_member("outcome", "unknown".into()),
    }
}

/// The body of an upstream's error, when it is JSON. An upstream that repeats an admin
/// key in its words must not make the gateway pass it on, or log it.
#[must_use]
pub fn error_body<'a>(body: &str, keys: impl IntoIterator<Item = &'a AdminKey>) -> Option<Value> {
    let mut value = json::value(body.as_bytes())?;
    let mut keys: Vec<_> = keys.into_iter().map(AdminKey::expose).collect();
    // Of two keys that begin alike the longer one first, or its rest would be left.
    while let Some((at, key)) = longest(&keys) {
        redact(&mut value, key);
        keys.swap_remove(at);
    }
    Some(value)
}

fn longest<'a>(keys: &[&'a str]) -> Option<(usize, &'a str)> {
    let lengths = keys.iter().copied().enumerate();
    lengths.max_by_key(|(_, key)| key.len())
}

/// Takes a key out of texts as they are read, so that no escape can hide it. Names of members
/// are not passed on.
fn redact(value: &mut Value, key: &str) {
    match value {
        Value::String(text) => *text = text.replace(key, "[key]"),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, key)),
        Value::Object(members) => members.values_mut().for_each(|item| redact(item, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The problem of the upstream's own error: it keeps its status, and its words. A status
/// that HTTP gives no meaning, which no answer can be made with, becomes 502.
#[must_use]
pub fn error(error: &ApiError, method: Method) -> Problem {
    let status = match error.status {
        meant @ 400..=599 => meant,
        _ => 502,
    };
    let upstream =
        json!({ "status": error.status, "error": error.message, "details": error.details });
    let problem = Problem::new(
        status,
        "upstream-error",
        "Upstream error",
        error.message.clone(),
    )
    .with_member("upstream", upstream);
    let problem = if error.details.is_empty() {
        problem
    } else {
        let shaped = |text: &String| json!({ "message": text });
        problem.with_member("details", error.details.iter().map(shaped).collect())
    };
    let problem = match status {
        500.. => uncertain(problem, method),
        _ => problem,
    };
    let wait = error.retry_after.unwrap_or(USUAL_WAIT).0.div_ceil(1000);
    match status {
        429 | 503 => problem.with_header("retry-after", wait.to_string()),
        _ => problem,
    }
}
