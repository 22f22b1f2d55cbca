//! The timing of polls. A poll reads a job from Mintlify. Polling stops when the job finishes.

use quillgate::{JobStatus, Millis};

/// Maximum wait between two polls of a job while the upstream fails.
pub const MAX_PAUSE: Millis = Millis::from_seconds(60);
/// Time after its creation in which a job may be unknown to the upstream. A 404 within this time
/// does not close the streams of its watchers.
pub const CREATION_DELAY: Millis = Millis::from_seconds(60);
/// Time of uninterrupted 404 responses after which the gateway reports a job to its webhook as not
/// found, and stops polling it for the webhook.
pub const LOST_AFTER: Millis = Millis::from_seconds(15 * 60);
/// Minimum wait between two polls of a job that has a webhook and no watchers.
pub const UNWATCHED_PAUSE: Millis = Millis::from_seconds(15);
/// A job's age divided by this number is the minimum wait between its polls.
const POLLS_OF_AGE: u64 = 120;
/// Maximum number of times that failures double the wait.
const MAX_DOUBLINGS: u32 = 6;

/// The recipients of a job's changes. The time between polls depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// At least one watcher receives them.
    Watchers,
    /// Only the job's webhook receives its end.
    Webhook,
}

/// The needs of a watcher when it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watcher {
    /// Connects for the first time, and needs the current state.
    New,
    /// Reconnects, and needs only the changes after the last one that it received.
    Resuming,
}

/// Computes the wait between two polls of a job. It starts at `interval`, and grows with `age`, the
/// time since the job last started. Each of the consecutive `failures` doubles it.
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
pub fn compute_pause(interval: Millis, audience: Audience, age: Millis, failures: u32) -> Millis {
    let usual = match audience {
        Audience::Watchers => interval,
        Audience::Webhook => interval.max(UNWATCHED_PAUSE),
    };
    let usual = usual.max(Millis(age.0 / POLLS_OF_AGE));
    let doubled = usual.0.saturating_mul(1 << failures.min(MAX_DOUBLINGS));
    Millis(doubled).min(usual.max(MAX_PAUSE))
}

/// Whether this status is final. A missing status is not.
pub fn is_finished(status: Option<&str>) -> bool {
    status.is_some_and(|status| JobStatus::from(status.to_owned()).is_terminal())
}

/// The recorded state of a job when a watcher connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownState {
    /// Whether a response has ever contained the job's state.
    pub is_seen: bool,
    /// Whether the job has finished or is no longer polled.
    pub is_closed: bool,
    /// Time of the last poll.
    pub checked_at: Millis,
    /// Earliest time of the next poll, from the upstream's `Retry-After`.
    pub not_before: Millis,
}

/// Whether to poll a job before a watcher receives its state.
///
/// For new watchers, finished jobs are polled too, because other clients can restart them. A
/// resuming watcher only needs changes.
pub fn is_poll_due(
    known: Option<KnownState>,
    watcher: Watcher,
    interval: Millis,
    now: Millis,
) -> bool {
    let Some(known) = known.filter(|known| known.is_seen) else {
        return true;
    };
    let may_have_changed = !known.is_closed || watcher == Watcher::New;
    may_have_changed && now.since(known.checked_at) >= interval && now >= known.not_before
}
