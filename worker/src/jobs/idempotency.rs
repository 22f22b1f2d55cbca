//! No job is created twice: what happens to a request that carries an `Idempotency-Key`
//! (draft-ietf-httpapi-idempotency-key-header).
//!
//! A record is kept for each caller, project and key. [`decide`] says what to do with a request
//! that has such a record, [`settle`] what to keep of the upstream's answer. A request whose
//! outcome nobody knows, because the upstream did not answer or the gateway was restarted in the
//! meantime, is never repeated automatically: only the caller can ask for that, with
//! `Idempotency-Retry: force`.

use quillgate::{Millis, Rule, ValidationError};
use serde::{Deserialize, Serialize};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// How long a key is kept: 24 hours.
pub const LIFE: Millis = Millis(86_400_000);

const KEY_HEADER: &str = "Idempotency-Key";
const RETRY_HEADER: &str = "Idempotency-Retry";
const LONGEST_KEY: usize = 255;

/// A key: 1 to 255 visible ASCII characters, unquoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Reads the value of `Idempotency-Key`: a String of RFC 9651, in quotes, or the same text
    /// without them; both are the same key.
    ///
    /// A bare key contains no comma, since several fields arrive joined by commas, and does not
    /// begin with a quote. Parameters after a String are refused rather than ignored.
    ///
    /// # Errors
    /// 400 `invalid-request`, rule `idempotency-key`.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::jobs::idempotency::Key;
    ///
    /// assert_eq!(Key::read("\"8e03\"").unwrap().as_str(), "8e03");
    /// assert_eq!(Key::read("8e03").unwrap().as_str(), "8e03");
    /// assert!(Key::read("\"8e03 8e04\"").is_err());
    /// ```
    pub fn read(header: &str) -> Result<Self, Problem> {
        let header = header.trim_matches([' ', '\t']);
        let key = match header.strip_prefix('"') {
            Some(rest) => unquote(rest),
            None => (!header.contains(',')).then(|| header.to_owned()),
        };
        let key = key.filter(|key| {
            (1..=LONGEST_KEY).contains(&key.len())
                && key.bytes().all(|byte| byte.is_ascii_graphic())
        });
        key.map(Self)
            .ok_or_else(|| ValidationError::new(KEY_HEADER, Rule::IdempotencyKey, "").into())
    }

    /// The key, unquoted.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads a String (RFC 9651, section 4.2.5) after its opening quote.
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

/// Whether a request may be sent again although it may have been carried out before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Only when it has certainly not been.
    Normal,
    /// Always: the caller has checked, or does not mind.
    Force,
}

impl Retry {
    /// The value of this name, as it is serialised.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "normal" => Some(Self::Normal),
            "force" => Some(Self::Force),
            _ => None,
        }
    }

    /// Reads `Idempotency-Retry`, whose only value is `force`, in any case.
    ///
    /// # Errors
    /// 400 `invalid-request`, rule `idempotency-retry`, when it is anything else.
    pub fn read(header: Option<&str>) -> Result<Self, Problem> {
        match header {
            None => Ok(Self::Normal),
            Some(value)
                if value
                    .trim_matches([' ', '\t'])
                    .eq_ignore_ascii_case("force") =>
            {
                Ok(Self::Force)
            }
            Some(_) => Err(invalid_retry_problem()),
        }
    }
}

fn invalid_retry_problem() -> Problem {
    let detail = "Idempotency-Retry must be force, or not be sent";
    Problem::field(RETRY_HEADER, GatewayRule::IdempotencyRetry, detail)
}

/// How far a request has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is being carried out. After a restart it is [`Self::Unknown`].
    Running,
    /// Its answer is stored.
    Done,
    /// It was started, and nobody knows how it ended.
    Unknown,
    /// It was carried out, and an operator has deleted the record of its job.
    Deleted,
}

impl State {
    /// The state of this name in the table; any other name is [`Self::Unknown`].
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "running" => Self::Running,
            "done" => Self::Done,
            "deleted" => Self::Deleted,
            _ => Self::Unknown,
        }
    }
}

/// What is stored under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The [`fingerprint`](crate::hash::fingerprint) of the request.
    pub fingerprint: String,
    /// How far it has got.
    pub state: State,
    /// When it was started, in milliseconds since the Unix epoch.
    pub at: u64,
    /// The status of the stored answer.
    pub status: Option<u16>,
}

/// What to do with a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Carry it out under a new record, which replaces one that has expired.
    Fresh,
    /// Carry it out again, as the caller insists, and replace the record.
    Again,
    /// Answer with what is stored.
    Replay,
    /// Answer with this: 422 `idempotency-key-reused`, or 409 `idempotency-key-in-use`, `record-deleted` or
    /// `outcome-unknown`.
    Refused(Problem),
}

/// Decides what to do with a request by the record under its key.
///
/// A different request under the same key is refused whatever happened to the first. Forcing repeats a
/// request only when its outcome is unknown or its stored response is a 5xx.
#[must_use]
pub fn decide(record: Option<&Record>, fingerprint: &str, retry: Retry, now: Millis) -> Verdict {
    let Some(record) = record.filter(|record| now.since(Millis(record.at)) < LIFE) else {
        return Verdict::Fresh;
    };
    if record.fingerprint != fingerprint {
        return Verdict::Refused(reused_problem());
    }
    match (record.state, record.status, retry) {
        (State::Running, ..) => Verdict::Refused(in_use_problem()),
        (State::Deleted, ..) => Verdict::Refused(record_deleted_problem()),
        (State::Done, Some(500..), Retry::Force) => Verdict::Again,
        (State::Done, Some(_), _) => Verdict::Replay,
        (_, _, Retry::Force) => Verdict::Again,
        (_, _, Retry::Normal) => Verdict::Refused(outcome_unknown_problem()),
    }
}

fn reused_problem() -> Problem {
    let detail = "this idempotency key was used for another request";
    Problem::new(ProblemKind::IdempotencyKeyReused, detail)
}

fn in_use_problem() -> Problem {
    let detail = "the first request with this idempotency key is still being carried out";
    Problem::new(ProblemKind::IdempotencyKeyInUse, detail).with_header("retry-after", "1")
}

fn record_deleted_problem() -> Problem {
    let detail = "the first request with this idempotency key was carried out; an operator has deleted the \
        record of its job";
    Problem::new(ProblemKind::RecordDeleted, detail)
}

fn outcome_unknown_problem() -> Problem {
    let detail = "whether the first request with this idempotency key was carried out is not known; \
        Idempotency-Retry: force sends it again";
    Problem::new(ProblemKind::OutcomeUnknown, detail).with_member("outcome", "unknown".into())
}
