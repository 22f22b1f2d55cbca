//! Circuit breakers: they stop calls to the upstream while it keeps failing.
//!
//! Each operation of a project has its own breaker. Failed reads never stop writes, and projects do
//! not affect each other. Repeated failures of one subject, such as a job or a range of page views,
//! count once per period. A single id with 500 responses therefore never opens a breaker.
//!
//! A closed breaker allows and counts calls. It opens when at least half of the calls in the last 30
//! seconds failed, given at least 20 calls. An open breaker refuses calls for 30 seconds. Then it is
//! half open: it allows one call as a trial and refuses others until the trial's outcome is recorded.
//! A success closes the breaker. A failure opens it for twice as long, up to 5 minutes. If the outcome
//! is not recorded within the breaker's last period, the next call becomes the trial.
//!
//! Calls are counted in steps of 3 seconds to limit the state, so the period is 27 to 30 seconds long.
//! A call that started before the breaker opened can finish during a trial. It then counts as the
//! trial, because its outcome is as recent.

use quillgate::Millis;
use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use quillgate::Operation;

/// Minimum number of calls before the breaker opens.
pub const MIN_CALLS: u32 = 20;
/// Time for which the breaker opens first: 30 s.
pub const INITIAL_PERIOD: Millis = Millis(30_000);
/// Maximum time for which the breaker opens: 5 min.
pub const MAX_PERIOD: Millis = Millis(300_000);

/// Maximum number of stored breakers. Only breakers with recent failures are stored.
pub const MAX_BREAKERS: usize = 256;
/// Maximum number of failed subjects per breaker. Failures of further subjects always count.
pub const MAX_SUBJECTS: usize = 64;

const STEP: u64 = 3_000;
const STEPS: u64 = 10;

/// A circuit breaker. The default is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    steps: Vec<Step>,
    /// Failed subjects with the numbers of their steps.
    failed: Vec<(u64, String)>,
    opened: Option<Opened>,
}

/// The calls in one step of time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// The step's number since the Unix epoch.
    number: u64,
    calls: u32,
    failures: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Opened {
    until: u64,
    /// The time for which the breaker opened.
    period: u64,
    /// The start of the trial.
    trial: Option<u64>,
}

/// The state of a breaker, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Allows calls.
    Closed,
    /// Allows one call as a trial.
    HalfOpen,
    /// Refuses calls.
    Open,
}

/// The outcome of a call for a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome<'a> {
    /// The upstream is reachable and responded.
    Answered,
    /// The call failed or timed out, with its subject. A call that creates something has none.
    Failed(Option<&'a str>),
}

/// The operation and project that share a breaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The operation.
    pub operation: Operation,
    /// The project.
    pub project: String,
}

/// The breakers of an isolate. Breakers without recent failures are dropped, so a healthy upstream
/// costs nothing.
#[derive(Debug, Default)]
pub struct Breakers(Vec<(Scope, Breaker)>);

impl Breakers {
    /// Checks whether the breaker allows a call: see [`Breaker::allow`].
    ///
    /// # Errors
    /// 503 `upstream-unavailable` with `Retry-After`.
    pub fn allow(&mut self, scope: &Scope, now: Millis) -> Result<(), Problem> {
        let found = self.0.iter_mut().find(|(own, _)| own == scope);
        found.map_or(Ok(()), |(_, breaker)| breaker.allow(now))
    }

    /// Records the outcome of a call.
    pub fn record_outcome(&mut self, scope: &Scope, outcome: CallOutcome<'_>, now: Millis) {
        let known = self.0.iter().position(|(own, _)| own == scope);
        if known.is_none() && outcome == CallOutcome::Answered {
            return;
        }
        let at = known.unwrap_or_else(|| self.add(scope, now));
        let Some((_, breaker)) = self.0.get_mut(at) else {
            return;
        };
        breaker.record_outcome(outcome, now);
        if breaker.is_calm(now) {
            self.0.swap_remove(at);
        }
    }

    /// Returns the worst state of these operations, in one project or in all.
    #[must_use]
    pub fn state(&self, operations: &[Operation], project: Option<&str>, now: Millis) -> State {
        let concerned = self.0.iter().filter(|(scope, _)| {
            operations.contains(&scope.operation)
                && project.is_none_or(|project| scope.project == project)
        });
        let states = concerned.map(|(_, breaker)| breaker.state(now));
        states.max().unwrap_or(State::Closed)
    }

    /// Returns the number of breakers.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no breaker is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a breaker. If the maximum is reached, it replaces another one, preferably a closed one.
    fn add(&mut self, scope: &Scope, now: Millis) -> usize {
        if self.0.len() >= MAX_BREAKERS {
            self.0.retain(|(_, breaker)| !breaker.is_calm(now));
        }
        if self.0.len() >= MAX_BREAKERS {
            let closed = self.0.iter().position(|(_, own)| own.opened.is_none());
            self.0.swap_remove(closed.unwrap_or(0));
        }
        self.0.push((scope.clone(), Breaker::default()));
        self.0.len() - 1
    }
}

impl State {
    /// Parses a state's name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let states = [Self::Closed, Self::Open, Self::HalfOpen];
        states.into_iter().find(|state| state.as_str() == name)
    }

    /// Returns the name: `closed`, `open` or `half-open`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

impl Breaker {
    /// Checks whether the breaker allows a call. Callers must record the outcome of an allowed call with
    /// [`Breaker::record_outcome`].
    ///
    /// # Errors
    /// 503 `upstream-unavailable` with `Retry-After`.
    pub fn allow(&mut self, now: Millis) -> Result<(), Problem> {
        let Some(opened) = &mut self.opened else {
            return Ok(());
        };
        let next = match opened.trial {
            Some(started) => started.saturating_add(opened.period),
            None => opened.until,
        };
        if now.0 < next {
            return Err(unavailable_problem(Millis(next).since(now)));
        }
        opened.trial = Some(now.0);
        Ok(())
    }

    /// Records the outcome of a call.
    pub fn record_outcome(&mut self, outcome: CallOutcome<'_>, now: Millis) {
        match (&self.opened, outcome) {
            (Some(Opened { trial: None, .. }), _) => {}
            (Some(_), CallOutcome::Answered) => *self = Self::default(),
            (Some(opened), CallOutcome::Failed(_)) => {
                let period = opened.period.saturating_mul(2).min(MAX_PERIOD.0);
                self.open(period, now);
            }
            (None, outcome) => self.count(outcome, now),
        }
    }

    /// Returns the current state.
    #[must_use]
    pub fn state(&self, now: Millis) -> State {
        match &self.opened {
            None => State::Closed,
            Some(opened) if now.0 < opened.until => State::Open,
            Some(_) => State::HalfOpen,
        }
    }

    /// Whether the breaker is closed without recent failures, so that it can be dropped.
    #[must_use]
    pub fn is_calm(&self, now: Millis) -> bool {
        let recent = |step: &&Step| step.number + STEPS > now.0 / STEP;
        let mut steps = self.steps.iter().filter(recent);
        self.opened.is_none() && steps.all(|step| step.failures == 0)
    }

    fn open(&mut self, period: u64, now: Millis) {
        self.steps.clear();
        self.failed.clear();
        self.opened = Some(Opened {
            until: now.0.saturating_add(period),
            period,
            trial: None,
        });
    }

    fn count(&mut self, outcome: CallOutcome<'_>, now: Millis) {
        let number = now.0 / STEP;
        self.steps.retain(|step| step.number + STEPS > number);
        self.failed.retain(|(step, _)| step + STEPS > number);
        if let CallOutcome::Failed(Some(subject)) = outcome {
            if self.failed.iter().any(|(_, own)| own == subject) {
                return;
            }
            if self.failed.len() < MAX_SUBJECTS {
                self.failed.push((number, subject.to_owned()));
            }
        }
        if self.steps.last().is_none_or(|last| last.number < number) {
            self.steps.push(Step {
                number,
                calls: 0,
                failures: 0,
            });
        }
        if let Some(last) = self.steps.last_mut() {
            last.calls = last.calls.saturating_add(1);
            let is_failure = outcome != CallOutcome::Answered;
            last.failures = last.failures.saturating_add(is_failure.into());
        }
        let sum =
            |part: fn(&Step) -> u32| self.steps.iter().map(|step| u64::from(part(step))).sum();
        let (calls, failures): (u64, u64) = (sum(|step| step.calls), sum(|step| step.failures));
        if calls >= u64::from(MIN_CALLS) && failures * 2 >= calls {
            self.open(INITIAL_PERIOD.0, now);
        }
    }
}

fn unavailable_problem(wait: Millis) -> Problem {
    let detail = "the upstream keeps failing and is left alone for a while";
    Problem::new(ProblemKind::UpstreamUnavailable, detail)
        .with_header("retry-after", wait.0.div_ceil(1000).to_string())
}
