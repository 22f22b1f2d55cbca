//! The log line of an archive run.

use crate::json;

/// A run of the daily archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArchiveRun {
    /// The number of requests sent. Retries are not counted.
    pub requests: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The number of completed days.
    pub days: u64,
    /// The duration in milliseconds.
    pub milliseconds: u64,
}

impl ArchiveRun {
    /// Formats the run as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self {
            requests,
            failures,
            days,
            milliseconds,
        } = self;
        json::to_text(&serde_json::json!({
            "archive": {
                "requests": requests,
                "failures": failures,
                "days": days,
                "milliseconds": milliseconds,
            },
        }))
    }
}
