//! The policies under which requests are counted.

use serde::Serialize;

/// A budget: which requests are counted together, against one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Jobs created in a project.
    CreateJob,
    /// Follow-ups sent in a project.
    SendMessage,
    /// Requests for analytics, of the whole organisation.
    Analytics,
    /// Requests that read jobs, of one caller in a project.
    ReadJobs,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Self; 4] = [
        Self::CreateJob,
        Self::SendMessage,
        Self::Analytics,
        Self::ReadJobs,
    ];

    /// The name in header fields, in a token's `quota` and in the tables: ASCII without quotes and
    /// backslashes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateJob => "create-job",
            Self::SendMessage => "send-message",
            Self::Analytics => "analytics",
            Self::ReadJobs => "read-jobs",
        }
    }

    /// The policy of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}
