//! Whether and when to send a request again.

use crate::declaration::Method;
use crate::millis::Millis;
use crate::response::is_outcome_unknown;
use crate::value::Value;

/// The problem `type` of a gateway that is still carrying out the request of this idempotency key.
pub const KEY_IN_USE: &str = "/problems/idempotency-key-in-use";

/// The problem `type` of a gateway if the platform refused the gateway's own key.
pub const UPSTREAM_CREDENTIAL: &str = "/problems/upstream-credential";

/// What the server makes of the same request sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// Nothing: the request only reads (RFC 9110, section 9.2.1).
    Safe,
    /// It recognises it by its idempotency key and does it once.
    ByKey,
    /// It does it twice. Such a request is never sent again: a job must not be created twice.
    None,
}

impl Idempotency {
    /// What the platform itself makes of a request by this method: it does not support
    /// idempotency keys, so a `POST` is done twice.
    #[must_use]
    pub const fn of_method(method: Method) -> Self {
        match method {
            Method::Get | Method::Delete => Self::Safe,
            Method::Post => Self::None,
        }
    }
}

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// An answer with this status.
    Status(u16),
    /// The server knows the request by its key, and is still carrying out an earlier
    /// attempt: 409 with the problem type [`KEY_IN_USE`].
    StillRunning,
    /// No answer: the connection failed or broke.
    Connection,
    /// No complete answer in time.
    Timeout,
    /// An answer by which nobody knows whether the request was carried out: see
    /// [`crate::response::is_outcome_unknown`].
    OutcomeUnknown,
    /// The platform refused the gateway's own key: a problem with the type [`UPSTREAM_CREDENTIAL`].
    /// Only an operator of the gateway can change that.
    UpstreamCredential,
    /// A 2xx whose body is not what the operation promises.
    Malformed,
}

impl Failure {
    /// The failure that an answer other than 2xx is; `body` is its parsed body, when it was JSON.
    ///
    /// ```
    /// use quillgate::Failure;
    ///
    /// let body = serde_json::json!({ "type": "/problems/idempotency-key-in-use" });
    /// assert_eq!(Failure::of_answer(409, &body), Failure::StillRunning);
    /// let body = serde_json::json!({ "outcome": "unknown" });
    /// assert_eq!(Failure::of_answer(504, &body), Failure::OutcomeUnknown);
    /// ```
    #[must_use]
    pub fn of_answer<V: Value>(status: u16, body: &V) -> Self {
        if is_outcome_unknown(body) {
            return Self::OutcomeUnknown;
        }
        let is = |kind| body.member("type").text().as_deref() == Some(kind);
        match status {
            409 if is(KEY_IN_USE) => Self::StillRunning,
            502 if is(UPSTREAM_CREDENTIAL) => Self::UpstreamCredential,
            status => Self::Status(status),
        }
    }

    /// Whether the same request can succeed later: 408, 429, most 5xx, an earlier attempt that still
    /// runs, a broken connection or a timeout.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 408 | 429 | 500..=599),
            Self::StillRunning | Self::Connection | Self::Timeout => true,
            Self::OutcomeUnknown | Self::UpstreamCredential | Self::Malformed => false,
        }
    }
}

/// How often a request is sent again when nothing else is said.
pub const DEFAULT_RETRIES: u32 = 2;
/// The longest `Retry-After` that is waited for; a longer one is the caller's to wait for.
pub const LONGEST_RETRY_AFTER: Millis = Millis(60_000);
/// How long an earlier attempt that still runs is waited for, in all, when nothing else is said.
pub const DEFAULT_PATIENCE: Millis = Millis(60_000);
/// An earlier attempt that still runs is asked after no sooner.
const LEAST_PAUSE: Millis = Millis(1_000);
const FIRST_BACKOFF: Millis = Millis(500);
const LONGEST_BACKOFF: Millis = Millis(8_000);

/// The attempts of one request.
///
/// The n-th wait, counted from 0, is `min(0.5 · 2^n, 8)` seconds, of which up to a quarter is taken
/// off by jitter; a `Retry-After` of up to 60 s takes its place.
///
/// An earlier attempt that still runs is no failed attempt: its result is asked for every second,
/// or as `Retry-After` says, and none of the retries is used up by that.
///
/// ```
/// use quillgate::{Failure, Millis, Idempotency, Retry};
///
/// let mut retry = Retry::new(Idempotency::Safe, 2);
/// assert_eq!(retry.after(Failure::Status(503), None, 0.0), Some(Millis(500)));
/// assert_eq!(retry.after(Failure::Connection, None, 0.0), Some(Millis(1_000)));
/// assert_eq!(retry.after(Failure::Connection, None, 0.0), None);
///
/// let mut create = Retry::new(Idempotency::None, 2);
/// assert_eq!(create.after(Failure::Status(503), None, 0.0), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    idempotency: Idempotency,
    retries: u32,
    done: u32,
    patience: Millis,
}

impl Retry {
    /// The attempts of a request that is sent again at most `retries` times.
    #[must_use]
    pub const fn new(idempotency: Idempotency, retries: u32) -> Self {
        Self {
            idempotency,
            retries,
            done: 0,
            patience: DEFAULT_PATIENCE,
        }
    }

    /// The same, with this much time in all to wait for an earlier attempt that still runs.
    #[must_use]
    pub const fn with_patience(mut self, patience: Millis) -> Self {
        self.patience = patience;
        self
    }

    /// How long to wait before the next attempt; `None` when the failure is the result.
    ///
    /// `hint` is what `Retry-After` asks for, `jitter` a random number from 0 to 1.
    pub fn after(&mut self, failure: Failure, hint: Option<Millis>, jitter: f64) -> Option<Millis> {
        let again =
            self.idempotency != Idempotency::None && self.retries > 0 && failure.is_transient();
        if !again || hint.is_some_and(|hint| hint > LONGEST_RETRY_AFTER) {
            return None;
        }
        if failure == Failure::StillRunning {
            return self.pause(hint);
        }
        if self.done == self.retries {
            return None;
        }
        let backoff = Millis(FIRST_BACKOFF.0 << self.done.min(4)).min(LONGEST_BACKOFF);
        self.done += 1;
        Some(hint.unwrap_or_else(|| backoff.jitter(1.0, 0.75, jitter)))
    }

    /// How long to wait before asking for the result of an earlier attempt.
    fn pause(&mut self, hint: Option<Millis>) -> Option<Millis> {
        let pause = hint.unwrap_or_default().max(LEAST_PAUSE);
        (pause <= self.patience).then(|| {
            self.patience = self.patience.since(pause);
            pause
        })
    }

    /// How many of the retries are used up.
    #[must_use]
    pub const fn done(&self) -> u32 {
        self.done
    }
}
