//! The state of a budget. Operators read this state in the health report.

use serde::{Deserialize, Serialize};

/// The state of a budget in the health report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetHealth {
    /// The maximum number of requests in any window.
    pub limit: u32,
    /// The number of requests left now, or 0 while the upstream blocks the policy.
    pub left: u32,
    /// When the upstream's block ends, as a Unix time in milliseconds. `None` if the upstream does
    /// not block the policy.
    pub blocked_until: Option<u64>,
}
