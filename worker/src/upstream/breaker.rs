//! Circuit breakers. Requests of one project with the same rate-limit policy share a breaker:
//! otherwise, failing reads would stop the creation of jobs, and one project would stop another. An
//! open breaker lets one request per [`PAUSE`] through as a probe.

use std::cell::RefCell;

use quillgate::{Millis, RateLimitPolicy};
use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// Consecutive failures after which a breaker opens.
pub const MAX_FAILURES: usize = 20;
pub const PAUSE: Millis = Millis::from_seconds(30);
pub const MAX_PAUSE: Millis = Millis::from_seconds(300);
/// Per isolate. A new breaker replaces the one with the oldest failure.
pub const MAX_BREAKERS: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    pub policy: Option<RateLimitPolicy>,
    pub project: String,
}

/// From best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Closed,
    /// Refuses requests, except for one probe per pause.
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome<'a> {
    /// Possibly with an error that does not count as a failure.
    Answered,
    Failed {
        /// Repeated failures of one target, such as a job, count once.
        target: Option<&'a str>,
        retry_after: Option<Millis>,
    },
}

#[derive(Debug, Default)]
struct Breaker {
    failed: Vec<Option<String>>,
    /// Set if the breaker is open.
    retry_at: Option<Millis>,
}

/// By their latest failure. A circuit has a breaker only while its latest outcome is a failure.
#[derive(Debug, Default)]
pub struct Breakers(Vec<(Circuit, Breaker)>);

impl Breakers {
    /// Callers must [record](Self::record) the outcome.
    pub fn allow(&mut self, circuit: &Circuit, now: Millis) -> Result<(), Problem> {
        let found = self.0.iter_mut().find(|(own, _)| own == circuit);
        let Some(retry_at) = found.and_then(|(_, breaker)| breaker.retry_at.as_mut()) else {
            return Ok(());
        };
        if now < *retry_at {
            let wait = retry_at.since(now).0.div_ceil(1000);
            let detail = "Mintlify keeps failing, so the gateway sends no requests for a while";
            let problem = Problem::new(ProblemKind::UpstreamUnavailable, detail);
            return Err(problem.with_header("retry-after", wait.to_string()));
        }
        *retry_at = now.plus(PAUSE);
        Ok(())
    }

    /// Any outcome but a failure closes the breaker.
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

thread_local! {
    static BREAKERS: RefCell<Breakers> = RefCell::default();
}

pub fn with_breakers<T>(run: impl FnOnce(&mut Breakers) -> T) -> T {
    BREAKERS.with_borrow_mut(run)
}
