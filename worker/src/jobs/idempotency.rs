//! Idempotency keys (draft-ietf-httpapi-idempotency-key-header), per caller and project. The
//! gateway never retries a request with an unknown outcome automatically, because a retry could
//! create a second job. Callers can send `Idempotency-Retry: force`.

use quillgate::Millis;
use serde::{Deserialize, Serialize};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::{GatewayResponse, HeaderFields};

pub const LIFE: Millis = Millis(86_400_000);

const MAX_KEY_BYTES: usize = 255;

/// Parses `Idempotency-Key`: a quoted String (RFC 9651) or the bare key, which name the same key. A
/// bare key contains no comma, because repeated headers arrive as one value joined by commas.
pub fn read_key(header: &str) -> Result<String, Problem> {
    let header = header.trim_matches([' ', '\t']);
    let key = match header.strip_prefix('"') {
        Some(rest) => unquote(rest),
        None => (!header.contains(',')).then(|| header.to_owned()),
    };
    let key = key.filter(|key| {
        (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    });
    key.ok_or_else(Problem::invalid_idempotency_key)
}

/// Parses a String (RFC 9651, section 4.2.5) after the opening quote, up to the end.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    Normal,
    /// The caller accepts that the first attempt may have taken effect.
    Force,
}

impl Retry {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// After a restart of the object, the outcome is unknown.
    Running,
    Done,
    /// An operator has deleted the record of the job and the stored response.
    Deleted,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeyRecord {
    pub fingerprint: String,
    pub state: KeyState,
    /// When the request was sent, in milliseconds.
    pub at: u64,
    pub status: Option<u16>,
    pub headers: Option<String>,
    pub body: Option<String>,
}

impl KeyRecord {
    pub fn response(&self) -> Option<GatewayResponse> {
        let headers = HeaderFields::from_json(self.headers.as_deref()?)?;
        let response = GatewayResponse::new(self.status?, headers, self.body.clone());
        Some(response.with_header("idempotent-replayed", "true"))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum KeyDecision {
    /// The key is new or expired, or the caller forces a retry.
    Send,
    Replay,
    Refuse(Problem),
}

/// A record that has reached the age [`LIFE`] has no effect. [`Retry::Force`] retries a request
/// only if its outcome is unknown or its stored response is a 5xx.
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
