//! The state of a budget, for operators.

use serde::{Deserialize, Serialize};

/// The state of a budget.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetHealth {
    /// How many requests any window may hold.
    pub limit: u32,
    /// How many slots are free.
    pub left: u32,
    /// Until when the upstream refuses requests, in milliseconds since the Unix epoch.
    pub closed_until: Option<u64>,
}
