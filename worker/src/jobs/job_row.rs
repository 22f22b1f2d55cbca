//! The stored row of a job. A [`JobRow`] determines when the gateway polls the job, and which end
//! of the job the webhook announces.

use quillgate::{JobId, JobStatus, Millis};
use serde::{Deserialize, Deserializer};

use crate::jobs::events::StreamEvent;
use crate::jobs::poll::{compute_pause, is_finished};
use crate::jobs::webhook::JobEnd;

/// The row of a job in the database of its project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobRow {
    /// The number of the row. Newer jobs have higher numbers.
    pub row: u64,
    /// The job's id.
    pub id: String,
    /// Whether the job was created through the gateway.
    #[serde(rename = "listed", deserialize_with = "read_boolean")]
    pub is_listed: bool,
    /// The URL of the webhook that announces the end of the job.
    pub webhook: Option<String>,
    /// The time of the job's creation. If the job was not created through the gateway, the time of
    /// the first poll.
    pub created_at: Millis,
    /// The job's status, from the upstream's latest response.
    pub status: Option<String>,
    /// The job as JSON, from the upstream's latest response.
    pub data: String,
    /// The number of the latest change, counted from 1.
    pub version: u64,
    /// The time of the latest response or poll.
    pub checked_at: Millis,
    /// The time when the job last started. A start is the job's creation, a follow-up, or a poll
    /// that found the finished job active again.
    pub last_started_at: Millis,
    /// The earliest time that the upstream allows for the next poll.
    pub not_before: Millis,
    /// The time of the first 404 response since the upstream last returned the job.
    pub missing_since: Option<Millis>,
    /// The time of the latest change. `None` for a job that an early release stored.
    pub since: Option<Millis>,
}

/// The maximum time for polling a finished job after a follow-up. The gateway polls the job for its
/// webhook while Mintlify still reports the earlier state. Without this limit, a follow-up that
/// changes nothing would use the poll budget for the whole poll duration.
pub const RESTART_TIME: Millis = Millis::from_seconds(15 * 60);

/// Reads a boolean that `SQLite` stores as 0 or 1.
pub(crate) fn read_boolean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    u64::deserialize(deserializer).map(|value| value != 0)
}

impl JobRow {
    /// Returns the id, or `None` if the id cannot be part of a path.
    pub fn job_id(&self) -> Option<JobId> {
        JobId::new(self.id.as_str()).ok()
    }

    /// Whether the job has a final status.
    pub fn is_finished(&self) -> bool {
        is_finished(self.status.as_deref())
    }

    /// Returns how the job ended. Returns `None` if the job has not finished.
    pub fn end(&self) -> Option<JobEnd> {
        JobEnd::of(&JobStatus::from(self.status.clone()?))
    }

    /// Returns the end for which the job's webhook, if any, is already queued or sent. Returns
    /// `None` if the job has not finished or [is restarted](Self::is_restarted). The next end of a
    /// restarted job needs a new webhook, even if the job ends in the same way.
    pub fn announced_end(&self) -> Option<JobEnd> {
        self.end().filter(|_| !self.is_restarted())
    }

    /// Whether the job has restarted and its stored state has not changed since then. Mintlify
    /// processes follow-ups in the background, so the response to a follow-up can repeat the
    /// earlier state.
    pub fn is_restarted(&self) -> bool {
        let is_older = |since| since <= self.last_started_at;
        self.last_started_at > self.created_at && self.since.is_some_and(is_older)
    }

    /// Returns the event that sends the job's state to its watchers.
    pub fn to_event(&self) -> StreamEvent {
        StreamEvent {
            id: self.version,
            name: "job".to_owned(),
            data: self.data.clone(),
        }
    }

    /// Returns when the job's state is stale and the upstream allows the next poll. `interval` is
    /// the minimum time between two polls. `failures` counts the consecutive failed polls.
    pub fn next_poll(&self, interval: Millis, failures: u32) -> Millis {
        let age = self.checked_at.since(self.last_started_at);
        let pause = compute_pause(interval, age, failures);
        self.checked_at.plus(pause).max(self.not_before)
    }

    /// Returns when polling ends if the job has not finished by then.
    pub fn poll_end(&self, poll_duration: Millis) -> Millis {
        self.last_started_at.plus(poll_duration)
    }

    /// Returns when polling for the job's webhook ends. Returns `None` for a finished job, unless
    /// the job has restarted: the webhook then waits for the end of the follow-up, for at most
    /// [`RESTART_TIME`].
    pub fn webhook_poll_end(&self, poll_duration: Millis) -> Option<Millis> {
        if !self.is_finished() {
            return Some(self.poll_end(poll_duration));
        }
        let restart_end = self.poll_end(poll_duration.min(RESTART_TIME));
        self.is_restarted().then_some(restart_end)
    }

    /// Whether polling has ended because the job did not finish in time, or because its id cannot
    /// be part of a path. Earlier builds stored such ids.
    pub fn is_given_up(&self, poll_duration: Millis, now: Millis) -> bool {
        let is_late = !self.is_finished() && now >= self.poll_end(poll_duration);
        is_late || self.job_id().is_none()
    }
}
