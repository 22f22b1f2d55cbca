//! The schedule for polling a job (docs/mintlify/jobs.md, 3, rule 1).

use crate::millis::Millis;

/// The first interval between two polls: 2 s.
pub const FIRST_INTERVAL: Millis = Millis(2_000);
/// The longest scheduled interval: 30 s. `Retry-After` can extend it.
pub const MAX_INTERVAL: Millis = Millis(30_000);
/// The minimum interval while the job's status is unknown or missing: 5 s.
pub const UNKNOWN_INTERVAL: Millis = Millis(5_000);
/// The number of consecutive failed polls after which polling stops.
pub const MAX_FAILURES: u32 = 5;

/// The progress of a job or a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The state is missing, or Quillgate does not know it.
    Unknown,
    /// The job has not finished.
    Running,
    /// The job has finished.
    Finished,
}

/// The next step after a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum PollStep {
    /// Wait this long, then poll again.
    Wait(Millis),
    /// The job has finished.
    Done,
    /// The deadline passed before the job finished.
    Expired,
    /// Too many polls in a row failed. Return the last failure.
    GiveUp,
}

/// A polling schedule that ends when the job finishes or the deadline passes.
///
/// The interval starts at 2 s and grows by half with every poll. Jitter lengthens it by up to a
/// quarter, so that clients that start together do not poll together. Waits are at most 30 s, or
/// `Retry-After` if that is longer. The last poll happens at the deadline, even if `Retry-After`
/// ends later.
///
/// ```
/// use quillgate::{Millis, Poll, PollStep, Progress};
///
/// let mut poll = Poll::new(Millis(0), Some(Millis(60_000)));
/// assert_eq!(poll.on_progress(Progress::Running, None, Millis(100), 0.0), PollStep::Wait(Millis(2_000)));
/// assert_eq!(poll.on_progress(Progress::Running, None, Millis(2_200), 0.0), PollStep::Wait(Millis(3_000)));
/// assert_eq!(poll.on_progress(Progress::Finished, None, Millis(5_300), 0.0), PollStep::Done);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poll {
    deadline: Option<Millis>,
    interval: Millis,
    failures: u32,
}

impl Poll {
    /// Creates a schedule that starts at `now` and ends after `timeout`. Without a timeout, it ends
    /// only when the job finishes or polls keep failing.
    #[must_use]
    pub fn new(now: Millis, timeout: Option<Millis>) -> Self {
        Self {
            deadline: timeout.map(|timeout| now.plus(timeout)),
            interval: FIRST_INTERVAL,
            failures: 0,
        }
    }

    /// Returns the time until the deadline, or `None` if the schedule has no deadline.
    #[must_use]
    pub fn time_left(&self, now: Millis) -> Option<Millis> {
        self.deadline.map(|deadline| deadline.since(now))
    }

    /// Processes the progress from a successful poll.
    ///
    /// After unknown progress, the next poll waits at least 5 s. `hint` is
    /// the value of `Retry-After`, and `jitter` is a random number from 0 to 1.
    pub fn on_progress(
        &mut self,
        progress: Progress,
        hint: Option<Millis>,
        now: Millis,
        jitter: f64,
    ) -> PollStep {
        self.failures = 0;
        let floor = match progress {
            Progress::Finished => return PollStep::Done,
            Progress::Running => Millis(0),
            Progress::Unknown => UNKNOWN_INTERVAL,
        };
        self.wait(floor.max(hint.unwrap_or_default()), now, jitter)
    }

    /// Processes the progress from an event stream. Polls that follow start with the first interval.
    pub fn on_event(&mut self, progress: Progress, now: Millis, jitter: f64) -> PollStep {
        self.interval = FIRST_INTERVAL;
        match self.on_progress(progress, None, now, jitter) {
            // A last poll decides, because a streamed state can be older than the deadline.
            PollStep::Expired => PollStep::Wait(Millis(0)),
            step => step,
        }
    }

    /// Processes a transient failure. `hint` and `jitter` are as for [`Self::on_progress`].
    pub fn on_failure(&mut self, hint: Option<Millis>, now: Millis, jitter: f64) -> PollStep {
        self.failures += 1;
        if self.failures >= MAX_FAILURES {
            return PollStep::GiveUp;
        }
        self.wait(hint.unwrap_or_default(), now, jitter)
    }

    fn wait(&mut self, floor: Millis, now: Millis, jitter: f64) -> PollStep {
        let scheduled = self.interval.jitter(1.0, 1.25, jitter).min(MAX_INTERVAL);
        self.interval = Millis(self.interval.0 + self.interval.0 / 2).min(MAX_INTERVAL);
        let wait = scheduled.max(floor);
        match self.deadline {
            Some(deadline) if now >= deadline => PollStep::Expired,
            Some(deadline) => PollStep::Wait(wait.min(deadline.since(now))),
            None => PollStep::Wait(wait),
        }
    }
}
