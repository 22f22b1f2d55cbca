//! When a job is polled, that is, read upstream while somebody waits for it to end.

use quillgate::{JobStatus, Millis};

/// The longest wait between two polls of a job while the upstream fails.
pub const LONGEST_PAUSE: Millis = Millis::from_seconds(60);
/// How long after its creation a job may still be unknown to the upstream, for those who watch it.
pub const CREATION_DELAY: Millis = Millis::from_seconds(60);
/// How long the upstream must have answered 404 before a job's webhook is given up.
pub const LOST_AFTER: Millis = Millis::from_seconds(15 * 60);
/// The shortest wait between two polls of a job that only a webhook waits for.
pub const UNWATCHED_PAUSE: Millis = Millis::from_seconds(15);
/// How many polls a job's age leaves room for: the wait grows with it.
const POLLS_OF_AGE: u64 = 120;
/// The most times that the wait is doubled.
const MAX_DOUBLINGS: u32 = 6;

/// Who waits for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Somebody watches it.
    Watchers,
    /// Only its webhook waits for it.
    Webhook,
}

/// Whoever begins to watch a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watcher {
    /// They want to know how it is.
    New,
    /// They name the last change that they have seen, and ask only whether there is more.
    Resuming,
}

/// What became of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollOutcome {
    /// It shows how the job is.
    Answered,
    /// A follow-up was answered meanwhile: what the poll says is older than that.
    Overtaken,
    /// It failed.
    Failed,
}

/// Computes the wait between two polls of a job: `interval`, longer as the job grows old, and longer
/// while the upstream fails. `age` is how long ago it was set to work, and `failures` how many times
/// in a row the upstream has failed.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::poll::{Audience, compute_pause};
///
/// let interval = Millis::from_seconds(5);
/// let (new, old) = (Millis::from_seconds(60), Millis::from_seconds(3600));
/// assert_eq!(compute_pause(interval, Audience::Watchers, new, 0), interval);
/// assert_eq!(compute_pause(interval, Audience::Watchers, new, 2), Millis::from_seconds(20));
/// assert_eq!(compute_pause(interval, Audience::Watchers, old, 0), Millis::from_seconds(30));
/// assert_eq!(compute_pause(interval, Audience::Webhook, new, 0), Millis::from_seconds(15));
/// ```
#[must_use]
pub fn compute_pause(interval: Millis, audience: Audience, age: Millis, failures: u32) -> Millis {
    let usual = match audience {
        Audience::Watchers => interval,
        Audience::Webhook => interval.max(UNWATCHED_PAUSE),
    };
    let usual = usual.max(Millis(age.0 / POLLS_OF_AGE));
    let doubled = usual.0.saturating_mul(1 << failures.min(MAX_DOUBLINGS));
    Millis(doubled).min(usual.max(LONGEST_PAUSE))
}

/// Whether a job with this status has ended; one whose status is not known has not.
#[must_use]
pub fn is_finished(status: Option<&str>) -> bool {
    status.is_some_and(|status| JobStatus::from(status.to_owned()).is_terminal())
}

/// Whether a job that was set to work at `began` is no longer polled, although it has not ended.
#[must_use]
pub fn is_given_up(began: Millis, limit: Millis, now: Millis) -> bool {
    now.since(began) >= limit
}

/// Whether a job should be known to the upstream by now: shortly after its creation it may simply
/// not be known yet.
#[must_use]
pub fn is_past_creation(created: Millis, now: Millis) -> bool {
    now.since(created) >= CREATION_DELAY
}

/// Whether a job is lost. `missing_since` is the first of the 404s that no success has interrupted:
/// a single one proves nothing.
#[must_use]
pub fn is_lost(missing_since: Millis, now: Millis) -> bool {
    now.since(missing_since) >= LOST_AFTER
}

/// What is known about a job when somebody starts watching it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Whether the job's state was ever seen.
    pub is_seen: bool,
    /// Whether nothing more is expected of it: it has ended, or is no longer polled.
    pub is_settled: bool,
    /// When it was last polled.
    pub checked: Millis,
    /// Until when the upstream asks not to be polled.
    pub not_before: Millis,
}

/// Whether a job has to be polled before somebody starts watching it.
///
/// A finished job may have been restarted from elsewhere, but whoever resumes only asks whether
/// there is more.
#[must_use]
pub fn is_poll_due(known: Option<Known>, watcher: Watcher, interval: Millis, now: Millis) -> bool {
    let Some(known) = known.filter(|known| known.is_seen) else {
        return true;
    };
    let may_have_changed = !known.is_settled || watcher == Watcher::New;
    may_have_changed && now.since(known.checked) >= interval && now >= known.not_before
}
