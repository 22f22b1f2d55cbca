//! Idempotency keys (draft-ietf-httpapi-idempotency-key-header). A key prevents a repeated request
//! from creating a second job or sending a second follow-up.
//!
//! The gateway stores a record per caller, project and key. [`decide`] compares a request with the
//! record of the request's key. [`KeyOutcome`](crate::upstream::failure::KeyOutcome) is the outcome
//! to store.
//!
//! An outcome is unknown, for example, if the upstream did not respond in time or the project's
//! object restarted. The gateway never retries a request with an unknown outcome automatically.
//! Callers can send `Idempotency-Retry: force` to retry the request.

use quillgate::{Millis, Rule, ValidationError};
use serde::{Deserialize, Serialize};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::{GatewayResponse, HeaderFields};

/// How long a key is stored after its request was sent: 24 hours.
pub const LIFE: Millis = Millis(86_400_000);

const KEY_HEADER: &str = "Idempotency-Key";
const MAX_KEY_LENGTH: usize = 255;

/// Parses `Idempotency-Key`: a quoted String (RFC 9651) or the bare key. Both forms name the same
/// key, which has 1 to 255 visible ASCII characters. Returns the key without quotes.
///
/// A bare key must not contain a comma, because repeated headers arrive as one value joined by
/// commas. A bare key must not begin with a quote. Parameters after a String are an error.
///
/// # Errors
/// Returns 400 `invalid-request` with the rule `idempotency-key` if the header is malformed.
///
/// # Example
/// ```
/// use quillgate_worker::jobs::idempotency::read_key;
///
/// assert_eq!(read_key("\"8e03\"").unwrap(), "8e03");
/// assert_eq!(read_key("8e03").unwrap(), "8e03");
/// assert!(read_key("\"8e03 8e04\"").is_err());
/// ```
pub fn read_key(header: &str) -> Result<String, Problem> {
    let header = header.trim_matches([' ', '\t']);
    let key = match header.strip_prefix('"') {
        Some(rest) => unquote(rest),
        None => (!header.contains(',')).then(|| header.to_owned()),
    };
    let key = key.filter(|key| {
        (1..=MAX_KEY_LENGTH).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    });
    key.ok_or_else(|| ValidationError::new(KEY_HEADER, Rule::IdempotencyKey, "").into())
}

/// Parses a String (RFC 9651, section 4.2.5) after the opening quote. Returns `None` if the String
/// is malformed or not at the end.
fn unquote(rest: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return characters.next().is_none().then_some(text),
            '\\' => match characters.next()? {
                escaped @ ('"' | '\\') => text.push(escaped),
                _ => return None,
            },
            plain => text.push(plain),
        }
    }
}

/// Whether to retry a request whose first attempt failed with a 5xx or has an unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Do not retry the request.
    Normal,
    /// Retry the request. The caller accepts that the first attempt may have taken effect.
    Force,
}

impl Retry {
    /// Parses `Idempotency-Retry`. The only valid value is `force`, ignoring case.
    ///
    /// # Errors
    /// Returns 400 `invalid-request` with the rule `idempotency-retry` for any other value.
    pub fn read(header: Option<&str>) -> Result<Self, Problem> {
        match header.map(|value| value.trim_matches([' ', '\t'])) {
            None => Ok(Self::Normal),
            Some(value) if value.eq_ignore_ascii_case("force") => Ok(Self::Force),
            Some(_) => Err(Problem::field(
                "Idempotency-Retry",
                GatewayRule::IdempotencyRetry,
                "Idempotency-Retry must be force or absent",
            )),
        }
    }
}

/// The state of a request with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// The request is in progress. After a restart of the object, its outcome is unknown.
    Running,
    /// The request is complete, and its response is stored.
    Done,
    /// The request is complete, but an operator has deleted the record of its job and the stored
    /// response.
    Deleted,
    /// The request was sent, and its outcome is unknown.
    #[serde(other)]
    Unknown,
}

impl KeyState {
    /// Returns the name of the state in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Deleted => "deleted",
            Self::Unknown => "unknown",
        }
    }
}

/// A request with an idempotency key, as the database stores it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeyRecord {
    /// The [`fingerprint`](crate::hash::fingerprint) of the request.
    pub fingerprint: String,
    /// The state of the request.
    pub state: KeyState,
    /// When the request was sent, as a Unix time in milliseconds.
    pub at: u64,
    /// The HTTP status of the stored response, if any.
    pub status: Option<u16>,
    /// The header fields of the stored response, as JSON.
    pub headers: Option<String>,
    /// The body of the stored response, if any.
    pub body: Option<String>,
}

impl KeyRecord {
    /// Returns the stored response, marked as a replay. Returns `None` if no valid response is
    /// stored.
    pub fn response(&self) -> Option<GatewayResponse> {
        let headers = HeaderFields::from_json(self.headers.as_deref()?)?;
        Some(GatewayResponse {
            headers: headers.with("idempotent-replayed", "true"),
            body: self.body.clone(),
            ..GatewayResponse::empty(self.status?)
        })
    }
}

/// The action for a request with an idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyDecision {
    /// Send the request. The key is new or expired, or the caller forces a retry.
    Send,
    /// Return the stored response.
    Replay,
    /// Return this problem: 422 `idempotency-key-reused`, or 409 `idempotency-key-in-use`,
    /// `record-deleted` or `outcome-unknown`.
    Refuse(Problem),
}

/// Compares a request with the record of its key and returns the action.
///
/// A record that has reached the age [`LIFE`] has no effect. Otherwise, a different request with
/// the same key is an error. [`Retry::Force`] retries a request only if its outcome is unknown or
/// its stored response is a 5xx.
pub fn decide(
    record: Option<&KeyRecord>,
    fingerprint: &str,
    retry: Retry,
    now: Millis,
) -> KeyDecision {
    let Some(record) = record.filter(|record| now.since(Millis(record.at)) < LIFE) else {
        return KeyDecision::Send;
    };
    if record.fingerprint != fingerprint {
        let detail = "this idempotency key was used for another request";
        return KeyDecision::Refuse(Problem::new(ProblemKind::IdempotencyKeyReused, detail));
    }
    match (record.state, record.status, retry) {
        (KeyState::Running, ..) => {
            let detail = "the first request with this idempotency key is still running";
            let problem = Problem::new(ProblemKind::IdempotencyKeyInUse, detail);
            KeyDecision::Refuse(problem.with_header("retry-after", "1"))
        }
        (KeyState::Deleted, ..) => {
            let detail = "the first request with this idempotency key succeeded; an operator has since \
                deleted the job's record";
            KeyDecision::Refuse(Problem::new(ProblemKind::RecordDeleted, detail))
        }
        (KeyState::Done, Some(500..), Retry::Force) => KeyDecision::Send,
        (KeyState::Done, Some(_), _) => KeyDecision::Replay,
        (_, _, Retry::Force) => KeyDecision::Send,
        (_, _, Retry::Normal) => {
            let detail = "the outcome of the first request with this idempotency key is unknown; to send \
                it again, add Idempotency-Retry: force";
            let problem = Problem::new(ProblemKind::OutcomeUnknown, detail);
            KeyDecision::Refuse(problem.with_member("outcome", "unknown".into()))
        }
    }
}
