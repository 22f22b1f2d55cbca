//! The health of the organization's object, for operators.

#[cfg(doc)]
use quillgate::Policy;
use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

/// The health of the organisation's object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrgHealth {
    /// The breaker's state.
    pub breaker: breaker::State,
    /// The budgets by name.
    pub budgets: OrgBudgets,
    /// How many pages of analytics are kept.
    pub cached_pages: u64,
    /// How often isolates have asked for an issuer's keys since the object was opened.
    pub key_set_calls: u64,
}

/// The organisation's budgets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct OrgBudgets {
    /// [`Policy::Analytics`].
    pub analytics: BudgetHealth,
}
