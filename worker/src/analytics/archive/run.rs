//! A run of the daily archive, for the log.

use crate::json;

/// A run of the daily archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArchiveRun {
    /// How many requests it sent; a repetition is not counted.
    pub requests: u64,
    /// How many of them failed.
    pub failures: u64,
    /// How many days it completed.
    pub days: u64,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

impl ArchiveRun {
    /// The run as a line of JSON.
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
