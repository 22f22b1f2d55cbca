use quillgate::Millis;

/// Maximum wait to which failures can lengthen the time between two polls. The age of a job can
/// make the wait even longer.
pub const MAX_PAUSE: Millis = Millis::from_seconds(60);
/// Maximum time that a list, a record or a new stream waits for polls if the job is stored.
pub const MAX_READ_WAIT: Millis = Millis::from_seconds(2);
/// Time after a job's creation during which a 404 does not close the streams of its watchers,
/// because Mintlify may not know the job yet.
pub const CREATION_DELAY: Millis = Millis::from_seconds(60);
/// How long Mintlify can respond 404 before the gateway stops polling for the webhook.
pub const LOST_AFTER: Millis = Millis::from_seconds(15 * 60);
pub const UNWATCHED_PAUSE: Millis = Millis::from_seconds(15);
/// How long a finished job is polled for its webhook after a follow-up. Without this limit, a
/// follow-up that changes nothing would use the poll budget for the whole poll duration.
pub const RESTART_TIME: Millis = Millis::from_seconds(15 * 60);
/// A job's age divided by this number is the minimum wait between polls of the job.
const POLLS_OF_AGE: u64 = 120;
const MAX_DOUBLINGS: u32 = 6;

/// The pause grows with `age`, the time since the job last started, and with consecutive failures.
pub fn compute_pause(interval: Millis, age: Millis, failures: u32) -> Millis {
    let usual = interval.max(Millis(age.0 / POLLS_OF_AGE));
    let doubled = usual.0.saturating_mul(1 << failures.min(MAX_DOUBLINGS));
    Millis(doubled).min(usual.max(MAX_PAUSE))
}
