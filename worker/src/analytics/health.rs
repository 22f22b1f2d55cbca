use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationHealth {
    /// Open if a project's breaker for analytics is open in the object's isolate.
    pub breaker: breaker::State,
    pub budgets: OrganizationBudgets,
    pub cached_pages: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct OrganizationBudgets {
    pub analytics: BudgetHealth,
    pub create_deployment: BudgetHealth,
    pub create_preview: BudgetHealth,
}
