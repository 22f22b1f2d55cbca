use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectHealth {
    /// Open if any circuit breaker of the project is open in the object's isolate.
    pub breaker: breaker::State,
    pub budgets: ProjectBudgets,
    /// Event streams and long polls.
    pub watchers: u64,
    pub webhooks_waiting: u64,
    /// Since the runtime constructed the object.
    pub alarms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProjectBudgets {
    pub create_job: BudgetHealth,
    pub send_message: BudgetHealth,
}
