//! The timing of polls. A poll reads a job from Mintlify. The time between polls grows with the age
//! of the job and with consecutive failures.

use quillgate::Millis;

/// Maximum wait to which failures can lengthen the time between two polls. The age of a job can
/// make the wait even longer.
pub const MAX_PAUSE: Millis = Millis::from_seconds(60);
/// Maximum time that a list, a record or a new stream waits for polls if the job is stored.
pub const MAX_READ_WAIT: Millis = Millis::from_seconds(2);
/// Time after a job's creation during which the upstream may not know the job yet. A 404 within
/// this time does not close the streams of the job's watchers.
pub const CREATION_DELAY: Millis = Millis::from_seconds(60);
/// How long the upstream can respond 404 for a job before the gateway reports the job to its
/// webhook as not found. The gateway then stops polling the job for the webhook.
pub const LOST_AFTER: Millis = Millis::from_seconds(15 * 60);
/// Minimum wait between two polls of a job that has a webhook and no watchers.
pub const UNWATCHED_PAUSE: Millis = Millis::from_seconds(15);
/// The maximum time for polling a finished job after a follow-up. The gateway polls the job for its
/// webhook while Mintlify still reports the earlier state. Without this limit, a follow-up that
/// changes nothing would use the poll budget for the whole poll duration.
pub const RESTART_TIME: Millis = Millis::from_seconds(15 * 60);
/// A job's age divided by this number is the minimum wait between polls of the job.
const POLLS_OF_AGE: u64 = 120;
/// Maximum number of failures that double the wait.
const MAX_DOUBLINGS: u32 = 6;

/// Computes the wait between two polls of a job. The wait is at least `interval`, and grows with
/// `age`, the time since the job last started. `failures` counts consecutive failed polls. Each
/// failure doubles the wait, up to [`MAX_PAUSE`]. Failures never shorten the wait.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::poll::compute_pause;
///
/// let interval = Millis::from_seconds(5);
/// let (new, old) = (Millis::from_seconds(60), Millis::from_seconds(3600));
/// assert_eq!(compute_pause(interval, new, 0), interval);
/// assert_eq!(compute_pause(interval, new, 2), Millis::from_seconds(20));
/// assert_eq!(compute_pause(interval, old, 0), Millis::from_seconds(30));
/// ```
pub fn compute_pause(interval: Millis, age: Millis, failures: u32) -> Millis {
    let usual = interval.max(Millis(age.0 / POLLS_OF_AGE));
    let doubled = usual.0.saturating_mul(1 << failures.min(MAX_DOUBLINGS));
    Millis(doubled).min(usual.max(MAX_PAUSE))
}
