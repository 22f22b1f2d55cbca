//! The circuit breakers: what keeps failing upstream is left alone for a while.
//!
//! There is one for each operation in each project, so that reads never stop writes, and one
//! project's failures never another project. Failures of one thing (a job, a range of page views)
//! count once in the period, however often it is asked for: one id to which the upstream answers
//! 500 stops nobody.
//!
//! While it is closed, it lets every call through and counts. When at least half of the last 30
//! seconds' calls failed, and there were at least 20 of them, it opens and refuses everything for
//! 30 seconds. Then it is half open: it lets one call through as a trial and refuses the others
//! until the trial's outcome is recorded. A success closes it; a failure opens it again for twice
//! as long, up to 5 minutes. A trial without an outcome counts as lost after as long as the breaker
//! had been open, and the next call becomes the trial.
//!
//! Calls are counted in steps of 3 seconds, so that the state stays small; the period that counts
//! is therefore between 27 and 30 seconds long. A call that began before the breaker opened and
//! ends during a trial counts as the trial: its outcome is just as recent.

use quillgate::Millis;
use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use quillgate::Operation;

/// How many calls there must have been before the breaker opens.
pub const LEAST_CALLS: u32 = 20;
/// How long the breaker stays open at first: 30 s.
pub const FIRST_PERIOD: Millis = Millis(30_000);
/// The longest it stays open at a time: 5 min.
pub const LONGEST_PERIOD: Millis = Millis(300_000);

/// How many breakers are kept: only those of which some call has failed lately.
pub const MOST_BREAKERS: usize = 256;
/// How many things that failed a breaker remembers; later ones count each time.
pub const MOST_SUBJECTS: usize = 64;

const STEP: u64 = 3_000;
const STEPS: u64 = 10;

/// The breaker's state; `Breaker::default()` is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    steps: Vec<Step>,
    /// What has failed, with the number of the step in which it counted.
    failed: Vec<(u64, String)>,
    opened: Option<Opened>,
}

/// The calls of one step of time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// Its number since the Unix epoch.
    number: u64,
    calls: u32,
    failures: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Opened {
    until: u64,
    /// How long it was opened for.
    period: u64,
    /// When the trial was let through, if it was.
    trial: Option<u64>,
}

/// What a breaker does with a call, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Lets it through.
    Closed,
    /// Lets it through as a trial, unless there is one already.
    HalfOpen,
    /// Refuses it.
    Open,
}

/// How a call went, as a breaker counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome<'a> {
    /// The upstream answered, whatever it said.
    Answered,
    /// It failed or was silent, when asked for this: `None` for a new thing, which has no name yet.
    Failed(Option<&'a str>),
}

/// What a request is counted under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The operation.
    pub operation: Operation,
    /// The project.
    pub project: String,
}

/// The breakers of an isolate. One that is calm is forgotten, so that a healthy upstream costs
/// nothing.
#[derive(Debug, Default)]
pub struct Breakers(Vec<(Scope, Breaker)>);

impl Breakers {
    /// Checks whether a call may be made: see [`Breaker::allow`].
    ///
    /// # Errors
    /// 503 `upstream-unavailable` with `Retry-After`.
    pub fn allow(&mut self, scope: &Scope, now: Millis) -> Result<(), Problem> {
        let found = self.0.iter_mut().find(|(own, _)| own == scope);
        found.map_or(Ok(()), |(_, breaker)| breaker.allow(now))
    }

    /// Records how a call went.
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

    /// The worst that is done with calls of these operations, in this project or in any.
    #[must_use]
    pub fn state(&self, operations: &[Operation], project: Option<&str>, now: Millis) -> State {
        let concerned = self.0.iter().filter(|(scope, _)| {
            operations.contains(&scope.operation)
                && project.is_none_or(|project| scope.project == project)
        });
        let states = concerned.map(|(_, breaker)| breaker.state(now));
        states.max().unwrap_or(State::Closed)
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all is calm.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one, for which another makes room: rather one that is closed.
    fn add(&mut self, scope: &Scope, now: Millis) -> usize {
        if self.0.len() >= MOST_BREAKERS {
            self.0.retain(|(_, breaker)| !breaker.is_calm(now));
        }
        if self.0.len() >= MOST_BREAKERS {
            let closed = self.0.iter().position(|(_, own)| own.opened.is_none());
            self.0.swap_remove(closed.unwrap_or(0));
        }
        self.0.push((scope.clone(), Breaker::default()));
        self.0.len() - 1
    }
}

impl State {
    /// The state of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let states = [Self::Closed, Self::Open, Self::HalfOpen];
        states.into_iter().find(|state| state.as_str() == name)
    }

    /// The state's name: `closed`, `open` or `half-open`.
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
    /// Checks whether a call may be made. If it may, its outcome has to be recorded with
    /// [`Breaker::record_outcome`].
    ///
    /// # Errors
    /// 503 `upstream-unavailable` with `Retry-After`.
    pub fn allow(&mut self, now: Millis) -> Result<(), Problem> {
        let Some(opened) = &mut self.opened else {
            return Ok(());
        };
        let next = match opened.trial {
            Some(begun) => begun.saturating_add(opened.period),
            None => opened.until,
        };
        if now.0 < next {
            return Err(unavailable_problem(Millis(next).since(now)));
        }
        opened.trial = Some(now.0);
        Ok(())
    }

    /// Records how a call went.
    pub fn record_outcome(&mut self, outcome: CallOutcome<'_>, now: Millis) {
        match (&self.opened, outcome) {
            (Some(Opened { trial: None, .. }), _) => {}
            (Some(_), CallOutcome::Answered) => *self = Self::default(),
            (Some(opened), CallOutcome::Failed(_)) => {
                let period = opened.period.saturating_mul(2).min(LONGEST_PERIOD.0);
                self.open(period, now);
            }
            (None, outcome) => self.count(outcome, now),
        }
    }

    /// What the breaker does with a call at this moment.
    #[must_use]
    pub fn state(&self, now: Millis) -> State {
        match &self.opened {
            None => State::Closed,
            Some(opened) if now.0 < opened.until => State::Open,
            Some(_) => State::HalfOpen,
        }
    }

    /// Whether it is closed and has counted no recent failure, so that it may be dropped.
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
            if self.failed.len() < MOST_SUBJECTS {
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
        if calls >= u64::from(LEAST_CALLS) && failures * 2 >= calls {
            self.open(FIRST_PERIOD.0, now);
        }
    }
}

fn unavailable_problem(wait: Millis) -> Problem {
    let detail = "the upstream keeps failing and is left alone for a while";
    Problem::new(ProblemKind::UpstreamUnavailable, detail)
        .with_header("retry-after", wait.0.div_ceil(1000).to_string())
}
