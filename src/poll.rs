//! When to ask for a job again (docs/platform.md, 3, rule 1).

use crate::agent_job::JobStatus;
use crate::millis::Millis;

/// The first wait between two looks: 2 s.
pub const FIRST_INTERVAL: Millis = Millis(2_000);
/// The longest wait that the schedule comes to by itself: 30 s.
pub const LONGEST_INTERVAL: Millis = Millis(30_000);
/// The shortest wait while the status is one that the specification does not know: 5 s.
pub const UNKNOWN_INTERVAL: Millis = Millis(5_000);
/// How many looks in a row may fail before the wait is given up.
pub const MOST_FAILURES: u32 = 5;

/// What to do after a look at the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum PollStep {
    /// Wait this long, then look again.
    Wait(Millis),
    /// The job has come to its end.
    Done,
    /// The deadline has come; the job has not.
    Expired,
    /// Too many looks in a row failed: the last failure is the result.
    GiveUp,
}

/// A wait for a job to come to its end.
///
/// The interval grows by half with every look, from 2 s to 30 s, and up to a quarter
/// of jitter is added, so that many waits begun together do not stay together. What
/// the server asks for by `Retry-After` is never undercut. The last look is at
/// the deadline itself.
///
/// ```
/// use quillgate::{JobStatus, Millis, Poll, PollStep};
///
/// let mut poll = Poll::new(Millis(0), Some(Millis(60_000)));
/// let active = JobStatus::Active;
/// assert_eq!(poll.on_status(Some(&active), None, Millis(100), 0.0), PollStep::Wait(Millis(2_000)));
/// assert_eq!(poll.on_status(Some(&active), None, Millis(2_200), 0.0), PollStep::Wait(Millis(3_000)));
/// assert_eq!(poll.on_status(Some(&JobStatus::Failed), None, Millis(5_300), 0.0), PollStep::Done);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poll {
    deadline: Option<Millis>,
    interval: Millis,
    failures: u32,
}

impl Poll {
    /// A wait that begins at `now` and ends after `timeout`, when there is one.
    #[must_use]
    pub fn new(now: Millis, timeout: Option<Millis>) -> Self {
        Self {
            deadline: timeout.map(|timeout| now.plus(timeout)),
            interval: FIRST_INTERVAL,
            failures: 0,
        }
    }

    /// How long it is until the deadline, when there is one.
    #[must_use]
    pub fn time_left(&self, now: Millis) -> Option<Millis> {
        self.deadline.map(|deadline| deadline.since(now))
    }

    /// Takes in a look at the job.
    ///
    /// A status that is missing or unknown does not end the wait and slows it down.
    /// `hint` is what the server asks to wait, `jitter` a random number from 0 to 1.
    pub fn on_status(
        &mut self,
        status: Option<&JobStatus>,
        hint: Option<Millis>,
        now: Millis,
        jitter: f64,
    ) -> PollStep {
        self.failures = 0;
        if status.is_some_and(JobStatus::is_terminal) {
            return PollStep::Done;
        }
        let known = status.is_some_and(JobStatus::is_known);
        let floor = if known { Millis(0) } else { UNKNOWN_INTERVAL };
        self.wait(floor.max(hint.unwrap_or_default()), now, jitter)
    }

    /// Takes in a look that failed in a way that may pass.
    pub fn on_failure(&mut self, hint: Option<Millis>, now: Millis, jitter: f64) -> PollStep {
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            return PollStep::GiveUp;
        }
        self.wait(hint.unwrap_or_default(), now, jitter)
    }

    fn wait(&mut self, floor: Millis, now: Millis, jitter: f64) -> PollStep {
        let scheduled = self
            .interval
            .jitter(1.0, 1.25, jitter)
            .min(LONGEST_INTERVAL);
        self.interval = Millis(self.interval.0 + self.interval.0 / 2).min(LONGEST_INTERVAL);
        let wait = scheduled.max(floor);
        match self.deadline {
            Some(deadline) if now >= deadline => PollStep::Expired,
            Some(deadline) => PollStep::Wait(wait.min(deadline.since(now))),
            None => PollStep::Wait(wait),
        }
    }
}
