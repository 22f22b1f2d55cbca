//! The stored row of a job.

use quillgate::{JobId, JobStatus, Millis};
use serde::{Deserialize, Deserializer};

use crate::jobs::machine::{Record, State};
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
    /// Whether polling has ended since the latest start.
    #[serde(rename = "given_up", deserialize_with = "read_boolean")]
    pub is_given_up: bool,
    /// When the job is due for its webhook.
    pub webhook_poll: Option<Millis>,
}

/// Reads a boolean that `SQLite` stores as 0 or 1.
pub(crate) fn read_boolean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    u64::deserialize(deserializer).map(|value| value != 0)
}

impl JobRow {
    /// Returns the id, or `None` if the id cannot be part of a path. Earlier builds stored such ids.
    pub fn job_id(&self) -> Option<JobId> {
        JobId::new(self.id.as_str()).ok()
    }

    /// Returns the part of the row that decides what happens to the job.
    pub fn record(&self) -> Record<JobEnd> {
        Record {
            is_listed: self.is_listed,
            is_pollable: self.job_id().is_some(),
            has_webhook: self.webhook.is_some(),
            created_at: self.created_at,
            started_at: self.last_started_at,
            checked_at: self.checked_at,
            not_before: self.not_before,
            missing_since: self.missing_since,
            changed_at: self.since,
            is_given_up: self.is_given_up,
            version: self.version,
            state: State {
                data: self.data.clone(),
                end: find_end(self.status.as_deref()),
            },
        }
    }
}

/// Returns how a job with this status has ended, or `None` if it has not finished.
pub fn find_end(status: Option<&str>) -> Option<JobEnd> {
    JobEnd::of(&JobStatus::from(status?.to_owned()))
}
