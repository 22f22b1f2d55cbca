use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

/// Of the project's two objects, for jobs and for deployments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectHealth {
    /// Open if any circuit breaker of the project is open in the isolate of an object.
    pub breaker: breaker::State,
    pub budgets: ProjectBudgets,
    /// Event streams and long polls.
    pub watchers: u64,
    pub webhooks_waiting: u64,
    /// Since the runtime constructed the objects.
    pub alarms: u64,
}

impl ProjectHealth {
    /// The object for deployments has no budgets.
    #[must_use]
    pub fn with_deployments(self, deployments: &Self) -> Self {
        Self {
            breaker: self.breaker.max(deployments.breaker),
            budgets: self.budgets,
            watchers: self.watchers + deployments.watchers,
            webhooks_waiting: self.webhooks_waiting + deployments.webhooks_waiting,
            alarms: self.alarms + deployments.alarms,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProjectBudgets {
    pub create_job: BudgetHealth,
    pub send_message: BudgetHealth,
}
