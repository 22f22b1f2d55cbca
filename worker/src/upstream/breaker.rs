//! Circuit breakers, which stop requests to Mintlify while Mintlify keeps failing.
//!
//! Requests of one project with the same rate-limit policy share a breaker. With a single breaker,
//! failing reads would stop the creation of jobs, and one project would stop another.
//!
//! A breaker opens after [`MAX_FAILURES`] consecutive failures, and refuses requests for [`PAUSE`]
//! or a longer `Retry-After` of at most [`MAX_PAUSE`]. Then it lets one request per [`PAUSE`] through as a probe.

use std::cell::RefCell;

use quillgate::{Millis, RateLimitPolicy};
use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// Number of consecutive failures after which a breaker opens.
pub const MAX_FAILURES: usize = 20;
/// Minimum time for which an open breaker refuses requests: 30 s.
pub const PAUSE: Millis = Millis::from_seconds(30);
/// Maximum time for which an open breaker refuses requests: 5 min.
pub const MAX_PAUSE: Millis = Millis::from_seconds(300);
/// Maximum number of breakers per isolate. A new one replaces the one with the oldest failure.
pub const MAX_BREAKERS: usize = 256;

/// The policy and project that share a breaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    /// The rate-limit policy of the operation, if it has one.
    pub policy: Option<RateLimitPolicy>,
    /// The id of the project.
    pub project: String,
}

/// The state of a breaker, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The breaker allows requests.
    Closed,
    /// The breaker refuses requests, except for one probe per pause.
    Open,
}

/// The outcome of a request, for [`Breakers::record`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome<'a> {
    /// Mintlify responded, possibly with an error that does not count as a failure.
    Answered,
    /// The request failed in a way that counts against Mintlify.
    Failed {
        /// Repeated failures of one target, such as a job, count once. Without a target, all count.
        target: Option<&'a str>,
        /// The `Retry-After` of the failure's problem, if any.
        retry_after: Option<Millis>,
    },
}

#[derive(Debug, Default)]
struct Breaker {
    failed: Vec<Option<String>>,
    /// When the next request can pass, if the breaker is open.
    retry_at: Option<Millis>,
}

/// The breakers of an isolate, ordered by their latest failure. A circuit has a breaker only while
/// its latest outcome is a failure.
#[derive(Debug, Default)]
pub struct Breakers(Vec<(Circuit, Breaker)>);

impl Breakers {
    /// Checks whether a request can be sent. Callers must [record](Self::record) the outcome.
    ///
    /// # Errors
    /// Returns 503 `upstream-unavailable` with `Retry-After` if the breaker refuses the request.
    pub fn allow(&mut self, circuit: &Circuit, now: Millis) -> Result<(), Problem> {
        let found = self.0.iter_mut().find(|(own, _)| own == circuit);
        let Some(retry_at) = found.and_then(|(_, breaker)| breaker.retry_at.as_mut()) else {
            return Ok(());
        };
        if now < *retry_at {
            return Err(unavailable_problem(retry_at.since(now)));
        }
        *retry_at = now.plus(PAUSE);
        Ok(())
    }

    /// Records the outcome of a request. Any outcome but a failure closes the breaker.
    pub fn record(&mut self, circuit: &Circuit, outcome: CallOutcome<'_>, now: Millis) {
        let at = self.0.iter().position(|(own, _)| own == circuit);
        let removed = at.map(|at| self.0.remove(at).1);
        if let CallOutcome::Failed {
            target,
            retry_after,
        } = outcome
        {
            let mut breaker = removed.unwrap_or_default();
            breaker.fail(target, retry_after, now);
            if self.0.len() >= MAX_BREAKERS {
                self.0.remove(0);
            }
            self.0.push((circuit.clone(), breaker));
        }
    }

    /// Returns [`State::Open`] if a breaker of `policies` in `project` currently refuses requests.
    /// Without a project, checks all projects.
    pub fn state(&self, policies: &[RateLimitPolicy], project: Option<&str>, now: Millis) -> State {
        let is_open = self.0.iter().any(|(circuit, breaker)| {
            circuit
                .policy
                .is_some_and(|policy| policies.contains(&policy))
                && project.is_none_or(|project| circuit.project == project)
                && breaker.retry_at.is_some_and(|retry_at| now < retry_at)
        });
        if is_open { State::Open } else { State::Closed }
    }
}

impl Breaker {
    fn fail(&mut self, target: Option<&str>, retry_after: Option<Millis>, now: Millis) {
        let target = target.map(str::to_owned);
        let is_new = target.is_none() || !self.failed.contains(&target);
        if is_new && self.failed.len() < MAX_FAILURES {
            self.failed.push(target);
        }
        if self.failed.len() >= MAX_FAILURES {
            let pause = retry_after.unwrap_or(PAUSE).clamp(PAUSE, MAX_PAUSE);
            self.retry_at = self.retry_at.max(Some(now.plus(pause)));
        }
    }
}

fn unavailable_problem(wait: Millis) -> Problem {
    let detail = "Mintlify keeps failing, so the gateway sends no requests for a while";
    Problem::new(ProblemKind::UpstreamUnavailable, detail)
        .with_header("retry-after", wait.0.div_ceil(1000).to_string())
}

thread_local! {
    static BREAKERS: RefCell<Breakers> = RefCell::default();
}

/// Calls `run` with this isolate's circuit breakers.
pub fn with_breakers<T>(run: impl FnOnce(&mut Breakers) -> T) -> T {
    BREAKERS.with_borrow_mut(run)
}

/// Returns the [state](Breakers::state) of this isolate's circuit breakers.
pub fn breaker_state(policies: &[RateLimitPolicy], project: Option<&str>, now: Millis) -> State {
    with_breakers(|breakers| breakers.state(policies, project, now))
}
