//! The health of the organization's object, as operators see it.

#[cfg(doc)]
use quillgate::RateLimitPolicy;
use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

/// The health of the organization's object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationHealth {
    /// The state of the circuit breakers for analytics: open if the breaker of any project is.
    pub breaker: breaker::State,
    /// The budgets by name.
    pub budgets: OrganizationBudgets,
    /// The number of stored pages.
    pub cached_pages: u64,
    /// The number of requests for key sets since the object was opened. Isolates send them.
    pub key_set_calls: u64,
}

/// The budgets of the organization.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct OrganizationBudgets {
    /// [`RateLimitPolicy::Analytics`].
    pub analytics: BudgetHealth,
}
