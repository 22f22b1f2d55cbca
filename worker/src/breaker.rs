//! The circuit breaker: an upstream that keeps failing is left alone for a while.
//!
//! Closed, it lets everything through and counts. When of at least 20 calls in the last 30
//! seconds at least half failed, it opens and refuses everything for 30 seconds. Then it is half
//! open: one call goes through on trial, the others are refused until it has reported. A success
//! closes it; a failure opens it again for twice as long, up to 5 minutes. A trial that has not
//! reported after as long as the breaker had been open is taken for lost, and the next call is
//! the trial.
//!
//! Calls are counted in steps of 3 seconds, so that the state stays small; the stretch looked at is
//! therefore between 27 and 30 seconds long. A call begun before the breaker opened and
//! reporting while a trial is under way counts as the trial: it is as fresh a word of the upstream.

use quillgate::Millis;
use serde::Serialize;
use serde_json::Value;

use crate::json;
use crate::problem::Problem;

/// How many calls have to be known before anything is concluded from them.
pub const LEAST_CALLS: u32 = 20;
/// How long the breaker stays open at first: 30 s.
pub const FIRST_PERIOD: Millis = Millis(30_000);
/// The longest it stays open at a time: 5 min.
pub const LONGEST_PERIOD: Millis = Millis(300_000);

const STEP: u64 = 3_000;
const STEPS: u64 = 10;

/// The breaker's memory, which the host keeps as JSON; `Breaker::default()` is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Breaker {
    steps: Vec<Step>,
    opened: Option<Opened>,
}

/// What was counted in one step of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Step {
    /// Its number since the Unix epoch.
    number: u64,
    calls: u32,
    failures: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Opened {
    until: u64,
    /// How long it was opened for.
    period: u64,
    /// When the trial was let through.
    trial: Option<u64>,
}

/// What a breaker does with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Lets them through.
    Closed,
    /// Refuses them.
    Open,
    /// Lets one through on trial.
    HalfOpen,
}

impl State {
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

/// Whether an outcome speaks against the upstream: no answer, or a 5xx.
#[must_use]
pub const fn is_failure(status: Option<u16>) -> bool {
    matches!(status, None | Some(500..))
}

impl Breaker {
    /// Reads the memory that the host has kept; what is not one is a new breaker's.
    #[must_use]
    pub fn read(memory: &str) -> Self {
        let memory = json::value(memory.as_bytes()).unwrap_or_default();
        let step = |step: &Value| {
            Some(Step {
                number: json::number(step, "number")?,
                calls: json::count(step, "calls")?,
                failures: json::count(step, "failures")?,
            })
        };
        let opened = |opened: &Value| {
            Some(Opened {
                until: json::number(opened, "until")?,
                period: json::number(opened, "period")?,
                trial: json::number(opened, "trial"),
            })
        };
        Self {
            steps: json::items(&memory, "steps").filter_map(step).collect(),
            opened: memory.get("opened").and_then(opened),
        }
    }

    /// Whether a call may be made; who may tells the outcome by [`Breaker::told`].
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
            return Err(unavailable(Millis(next).since(now)));
        }
        opened.trial = Some(now.0);
        Ok(())
    }

    /// Takes note of how a call went.
    pub fn told(&mut self, success: bool, now: Millis) {
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

    /// What the breaker does with calls at this moment.
    #[must_use]
    pub fn state(&self, now: Millis) -> State {
        match &self.opened {
            None => State::Closed,
            Some(opened) if now.0 < opened.until => State::Open,
            Some(_) => State::HalfOpen,
        }
    }

    /// Whether it lets everything through and knows of no failure: it may be forgotten.
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

fn unavailable(wait: Millis) -> Problem {
    let detail = "the upstream keeps failing and is left alone for a while";
    Problem::new(503, "upstream-unavailable", "Upstream unavailable", detail)
        .with_header("retry-after", wait.0.div_ceil(1000).to_string())
}
