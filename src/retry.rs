//! Retries. [`Retry`] decides whether and when to send a request again.

use crate::millis::Millis;
use crate::response::is_outcome_unknown;
use crate::value::Value;

/// The problem `type` that a gateway returns while it is processing an earlier request with the
/// same idempotency key.
pub const KEY_IN_USE: &str = "/problems/idempotency-key-in-use";

/// The problem `type`s that a gateway returns if Mintlify rejected the gateway's own key, the
/// organization's plan or the project.
pub const UPSTREAM_REFUSALS: [&str; 3] = [
    "/problems/upstream-credential",
    "/problems/upstream-plan",
    "/problems/upstream-project",
];

/// The effect of sending a request more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// Sending the request again has no further effect (RFC 9110, section 9.2.2).
    Idempotent,
    /// The server deduplicates requests by their idempotency key.
    WithKey,
    /// The server processes every request. A retry could create a second job, so the client never
    /// retries.
    NonIdempotent,
}

/// The reason why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// A response with this status.
    Status(u16),
    /// The server is still processing an earlier attempt with the same key: 409 with the problem
    /// type [`KEY_IN_USE`].
    StillRunning,
    /// The connection failed or closed before the response was complete.
    Connection,
    /// The connection fails whenever it is tried, for example because of an untrusted certificate.
    Unconnectable,
    /// The response was not complete within the timeout.
    Timeout,
    /// The response leaves open whether the request was processed; see
    /// [`crate::response::is_outcome_unknown`].
    OutcomeUnknown,
    /// Mintlify rejected the gateway's own key, the plan or the project: a problem with one of the
    /// [`UPSTREAM_REFUSALS`]. Only an operator of the gateway can fix this.
    UpstreamRefused,
    /// A 2xx response whose body is not valid.
    Malformed,
}

impl Failure {
    /// Classifies a response that is not 2xx. `body` is the parsed JSON body, if any.
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
        let kind = || body.member("type").text().unwrap_or_default();
        match status {
            409 if kind() == KEY_IN_USE => Self::StillRunning,
            502 if UPSTREAM_REFUSALS.contains(&kind().as_str()) => Self::UpstreamRefused,
            status => Self::Status(status),
        }
    }

    /// Returns whether the same request may succeed later.
    ///
    /// Transient failures are 408, 429, 5xx, an earlier attempt that is still running, a broken
    /// connection and a timeout. A 5xx with an unknown outcome is not transient, nor is a refusal
    /// that only an operator can resolve.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 408 | 429 | 500..=599),
            Self::StillRunning | Self::Connection | Self::Timeout => true,
            Self::Unconnectable
            | Self::OutcomeUnknown
            | Self::UpstreamRefused
            | Self::Malformed => false,
        }
    }
}

/// The default number of retries.
pub const DEFAULT_RETRIES: u32 = 2;
/// The longest `Retry-After` that a retry waits for: 60 s. A failure with a longer one is final.
pub const MAX_RETRY_AFTER: Millis = Millis(60_000);
/// The default total time to wait for an earlier attempt that is still running: 60 s.
pub const DEFAULT_PATIENCE: Millis = Millis(60_000);
/// The minimum wait between two requests for the result of an earlier attempt.
const MIN_PAUSE: Millis = Millis(1_000);
const FIRST_BACKOFF: Millis = Millis(500);
const MAX_BACKOFF: Millis = Millis(8_000);

/// The retries of one request.
///
/// Before retry n, counted from 0, the wait is `min(0.5 · 2^n, 8)` seconds. Jitter shortens it by
/// up to a quarter. A `Retry-After` of up to 60 s replaces this wait.
///
/// If an earlier attempt is still running, the client requests its result every second, or after a
/// longer `Retry-After`. These requests do not count as retries.
///
/// ```
/// use quillgate::{Failure, Millis, Idempotency, Retry};
///
/// let mut retry = Retry::new(Idempotency::Idempotent, 2);
/// assert_eq!(retry.after(Failure::Status(503), None, 0.0), Some(Millis(500)));
/// assert_eq!(retry.after(Failure::Connection, None, 0.0), Some(Millis(1_000)));
/// assert_eq!(retry.after(Failure::Connection, None, 0.0), None);
///
/// let mut create = Retry::new(Idempotency::NonIdempotent, 2);
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
    /// Creates a schedule with at most `retries` retries.
    #[must_use]
    pub const fn new(idempotency: Idempotency, retries: u32) -> Self {
        Self {
            idempotency,
            retries,
            done: 0,
            patience: DEFAULT_PATIENCE,
        }
    }

    /// Sets the total time to wait for an earlier attempt that is still running. Default: 60 s.
    #[must_use]
    pub const fn with_patience(mut self, patience: Millis) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the wait before the next attempt, or `None` if the failure is final.
    ///
    /// `hint` is the value of `Retry-After`, and `jitter` is a random number from 0 to 1.
    pub fn after(&mut self, failure: Failure, hint: Option<Millis>, jitter: f64) -> Option<Millis> {
        let can_retry = self.idempotency != Idempotency::NonIdempotent
            && self.retries > 0
            && failure.is_transient();
        if !can_retry || hint.is_some_and(|hint| hint > MAX_RETRY_AFTER) {
            return None;
        }
        if failure == Failure::StillRunning {
            return self.pause(hint);
        }
        if self.done == self.retries {
            return None;
        }
        let backoff = Millis(FIRST_BACKOFF.0 << self.done.min(4)).min(MAX_BACKOFF);
        self.done += 1;
        Some(hint.unwrap_or_else(|| backoff.jitter(1.0, 0.75, jitter)))
    }

    /// Returns the wait before the next request for the result of an earlier attempt, or `None` if
    /// it is longer than the remaining patience.
    fn pause(&mut self, hint: Option<Millis>) -> Option<Millis> {
        let pause = hint.unwrap_or_default().max(MIN_PAUSE);
        (pause <= self.patience).then(|| {
            self.patience = self.patience.since(pause);
            pause
        })
    }

    /// Returns the number of retries used so far.
    #[must_use]
    pub const fn done(&self) -> u32 {
        self.done
    }
}
