//! The circuit breaker: an upstream that keeps failing is left alone for a while.
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
use serde::Serialize;

use crate::problem::{Problem, ProblemKind};

/// How many calls there must have been before the breaker opens.
pub const LEAST_CALLS: u32 = 20;
/// How long the breaker stays open at first: 30 s.
pub const FIRST_PERIOD: Millis = Millis(30_000);
/// The longest it stays open at a time: 5 min.
pub const LONGEST_PERIOD: Millis = Millis(300_000);

const STEP: u64 = 3_000;
const STEPS: u64 = 10;

/// The breaker's state; `Breaker::default()` is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    steps: Vec<Step>,
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

/// What a breaker does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Lets it through.
    Closed,
    /// Refuses it.
    Open,
    /// Lets it through as a trial, unless there is one already.
    HalfOpen,
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
    pub fn record_outcome(&mut self, success: bool, now: Millis) {
        match &self.opened {
            Some(Opened { trial: None, .. }) => {}
            Some(_) if success => *self = Self::default(),
            Some(opened) => {
                let period = opened.period.saturating_mul(2).min(LONGEST_PERIOD.0);
                self.open(period, now);
            }
            None => self.count(success, now),
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
        self.opened = Some(Opened {
            until: now.0.saturating_add(period),
            period,
            trial: None,
        });
    }

    fn count(&mut self, success: bool, now: Millis) {
        let number = now.0 / STEP;
        self.steps.retain(|step| step.number + STEPS > number);
        if self.steps.last().is_none_or(|last| last.number < number) {
            self.steps.push(Step {
                number,
                calls: 0,
                failures: 0,
            });
        }
        if let Some(last) = self.steps.last_mut() {
            last.calls = last.calls.saturating_add(1);
            last.failures = last.failures.saturating_add(u32::from(!success));
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
