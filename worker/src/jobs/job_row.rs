use quillgate::{JobId, Millis};
use serde::{Deserialize, Deserializer};

use crate::jobs::machine::{Record, State};
use crate::jobs::resource::Resource;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobRow {
    /// Newer jobs have higher numbers.
    pub row: u64,
    pub id: String,
    #[serde(rename = "listed", deserialize_with = "read_boolean")]
    pub is_listed: bool,
    pub webhook: Option<String>,
    pub created_at: Millis,
    /// From Mintlify's latest response, like `data`.
    pub status: Option<String>,
    pub data: String,
    pub version: u64,
    pub checked_at: Millis,
    pub last_started_at: Millis,
    pub not_before: Millis,
    pub missing_since: Option<Millis>,
    /// See [`Record::changed_at`].
    pub since: Option<Millis>,
    #[serde(rename = "given_up", deserialize_with = "read_boolean")]
    pub is_given_up: bool,
    pub webhook_poll: Option<Millis>,
}

pub(crate) fn read_boolean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    u64::deserialize(deserializer).map(|value| value != 0)
}

impl JobRow {
    /// `None` if the id cannot be part of a path. Earlier builds stored such ids.
    pub fn job_id(&self) -> Option<JobId> {
        JobId::new(self.id.as_str()).ok()
    }

    pub fn record(&self, resource: Resource) -> Record {
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
                end: resource.find_end(self.status.as_deref()),
            },
        }
    }
}
