//! No job twice: what becomes of a request that carries an `Idempotency-Key`
//! (draft-ietf-httpapi-idempotency-key-header).
//!
//! A record is kept for each caller, project and key. [`verdict`] says what a request meets
//! there, [`settled`] what is kept of the upstream's answer. A request whose outcome nobody
//! knows, because the upstream did not answer or the gateway was restarted meanwhile, is never
//! sent again by itself: only the caller may say so, with `Idempotency-Retry: force`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::{Millis, Rule, ValidationError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::json;
use crate::problem::Problem;

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
    /// bare, which is one and the same key.
    ///
    /// A bare key holds no comma, since several fields arrive joined by one, and does not begin
    /// with a quote. Parameters after a String are refused rather than ignored.
    ///
    /// # Errors
    /// 400 `invalid-request`, rule `idempotency-key`.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::idempotency::Key;
    ///
    /// assert_eq!(Key::read("\"8e03\"").unwrap().as_str(), "8e03");
    /// assert_eq!(Key::read("8e03").unwrap().as_str(), "8e03");
    /// assert!(Key::read("\"8e03 8e04\"").is_err());
    /// ```
    pub fn read(header: &str) -> Result<Self, Problem> {
        let header = header.trim_matches([' ', '\t']);
        let key = match header.strip_prefix('"') {
            Some(rest) => unquoted(rest),
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

/// What stands between the quotes of a String (RFC 9651, section 4.2.5), the opening one
/// already taken.
fn unquoted(rest: &str) -> Option<String> {
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

/// Whether a request may be carried out again although it may have been before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Only when it certainly has not been.
    Normal,
    /// Yes: the caller has looked, or does not mind.
    Force,
}

impl Retry {
    /// Reads `Idempotency-Retry`, whose one value is `force`, in letters of any case.
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
            Some(_) => Err(invalid_retry()),
        }
    }
}

fn invalid_retry() -> Problem {
    let detail = "Idempotency-Retry must be force, or not be sent";
    let item = json!({ "field": RETRY_HEADER, "rule": "idempotency-retry", "detail": detail });
    Problem::new(400, "invalid-request", "The request is not valid", detail)
        .with_member("errors", json!([item]))
}

/// What a request is recognised by: SHA-256 over its parts (method, target, body and so on),
/// as base64url without padding.
///
/// Each part goes in after its length, so that no two lists of parts are alike.
#[must_use]
pub fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// How far the request of a record has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was begun.
    Running,
    /// Its answer is stored.
    Done,
    /// It was begun, and nobody knows how it ended.
    Unknown,
}

impl State {
    /// The state of this name: `running` or `done`; anything else is unknown.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "running" => Self::Running,
            "done" => Self::Done,
            _ => Self::Unknown,
        }
    }
}

/// What is stored under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The [`fingerprint`] of the request.
    pub fingerprint: String,
    /// How far it has come.
    pub state: State,
    /// Whether this instance of the gateway is still carrying it out; when it is running and
    /// nobody is, the gateway was restarted meanwhile.
    pub live: bool,
    /// When it was begun, in milliseconds since the Unix epoch.
    pub at: u64,
    /// The status of the stored answer.
    pub status: Option<u16>,
}

impl Stored {
    /// Reads a record as the host hands it over.
    #[must_use]
    pub fn read(record: &Value) -> Self {
        Self {
            fingerprint: json::owned(record, "fingerprint"),
            state: State::named(json::text(record, "state").unwrap_or_default()),
            live: json::flag(record, "live"),
            at: json::number(record, "at").unwrap_or_default(),
            status: json::status(record),
        }
    }
}

/// What is to be done with a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Carry it out, under a new record; one that has outlived its time is replaced.
    Fresh,
    /// Carry it out again, as the caller insists, replacing the record.
    Again,
    /// Answer with what is stored.
    Replay,
    /// Answer with this: 422 `idempotency-key-reused`, 409 `idempotency-key-in-use` or 409
    /// `outcome-unknown`.
    Refused(Problem),
}

/// Decides by what is stored under the request's key.
///
/// Another request under the same key is refused whatever became of the first. To force
/// does nothing while the first is still being carried out, nor when its stored answer says
/// for certain what became of it: anything but a 5xx.
#[must_use]
pub fn verdict(stored: Option<&Stored>, fingerprint: &str, retry: Retry, now: Millis) -> Verdict {
    let Some(stored) = stored.filter(|stored| now.since(Millis(stored.at)) < LIFE) else {
        return Verdict::Fresh;
    };
    if stored.fingerprint != fingerprint {
        return Verdict::Refused(reused());
    }
    match (stored.state, stored.status, retry) {
        (State::Running, ..) if stored.live => Verdict::Refused(in_use()),
        (State::Done, Some(500..), Retry::Force) => Verdict::Again,
        (State::Done, Some(_), _) => Verdict::Replay,
        (_, _, Retry::Force) => Verdict::Again,
        (_, _, Retry::Normal) => Verdict::Refused(outcome_unknown()),
    }
}

fn reused() -> Problem {
    let detail = "this idempotency key was used for another request";
    Problem::new(
        422,
        "idempotency-key-reused",
        "Idempotency key reused",
        detail,
    )
}

fn in_use() -> Problem {
    let detail = "the first request with this idempotency key is still being carried out";
    Problem::new(
        409,
        "idempotency-key-in-use",
        "Idempotency key in use",
        detail,
    )
    .with_header("retry-after", "1")
}

fn outcome_unknown() -> Problem {
    let detail = "whether the first request with this idempotency key was carried out is not known; \
        Idempotency-Retry: force sends it again";
    Problem::new(409, "outcome-unknown", "Outcome unknown", detail)
        .with_member("outcome", "unknown".into())
}

/// What is kept of a request that was sent upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Its answer, an error's too.
    Store,
    /// That nobody knows how it ended.
    Unknown,
    /// Nothing: it was not carried out, and may be sent again under the same key.
    Forget,
}

impl Settled {
    /// The outcome's name: `store`, `unknown` or `forget`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Unknown => "unknown",
            Self::Forget => "forget",
        }
    }
}

/// What is kept, by the status of the upstream's answer; `None` when none came, or not all
/// of it.
#[must_use]
pub const fn settled(status: Option<u16>) -> Settled {
    match status {
        None => Settled::Unknown,
        Some(401 | 403 | 429) => Settled::Forget,
        Some(_) => Settled::Store,
    }
}
