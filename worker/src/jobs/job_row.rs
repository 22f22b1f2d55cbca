//! The stored row of a job.

use quillgate::{JobId, JobStatus, Millis};
use serde::{Deserialize, Deserializer};

use crate::jobs::machine::{Record, State};
use crate::jobs::webhook::JobEnd;

/// The row of a job in the database of its project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobRow {
    /// Newer jobs have higher numbers.
    pub row: u64,
    /// See [`Self::job_id`].
    pub id: String,
    /// Whether the job was created through the gateway.
    #[serde(rename = "listed", deserialize_with = "read_boolean")]
    pub is_listed: bool,
    /// The URL of the webhook.
    pub webhook: Option<String>,
    /// See [`Record::created_at`].
    pub created_at: Millis,
    /// From the upstream's latest response.
    pub status: Option<String>,
    /// The upstream's latest response, as JSON.
    pub data: String,
    /// The number of the latest change, counted from 1.
    pub version: u64,
    /// The time of the latest response or poll.
    pub checked_at: Millis,
    /// See [`Record::started_at`].
    pub last_started_at: Millis,
    /// See [`Record::not_before`].
    pub not_before: Millis,
    /// See [`Record::missing_since`].
    pub missing_since: Option<Millis>,
    /// See [`Record::changed_at`].
    pub since: Option<Millis>,
    /// See [`Record::is_given_up`].
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
