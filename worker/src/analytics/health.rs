//! The organization's object in the health report.

#[cfg(doc)]
use quillgate::RateLimitPolicy;
use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

/// The state of the organization's object in the health report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationHealth {
    /// Open if a project's breaker for analytics is open in the object's isolate.
    pub breaker: breaker::State,
    /// The budgets that the object enforces, by the name of the policy.
    pub budgets: OrganizationBudgets,
    /// The number of pages that the database stores.
    pub cached_pages: u64,
}

/// Budgets by policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct OrganizationBudgets {
    /// The budget of [`RateLimitPolicy::Analytics`], which all projects share.
    pub analytics: BudgetHealth,
}
