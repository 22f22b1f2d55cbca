//! The health of a project's Durable Object. Operators read this state in the health report.

use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

/// The state of a project's Durable Object in the health report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectHealth {
    /// The state is open if any circuit breaker of the project is open in the object's isolate.
    pub breaker: breaker::State,
    /// The budgets that the object enforces, by the name of the policy.
    pub budgets: ProjectBudgets,
    /// The number of `WebSocket`s of event streams and long polls.
    pub watchers: u64,
    /// The number of stored webhooks, which wait for delivery or are being delivered.
    pub webhooks_waiting: u64,
    /// The number of alarms since the runtime constructed the object.
    pub alarms: u64,
}

/// The budgets of a project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProjectBudgets {
    /// The budget of `create-job`.
    pub create_job: BudgetHealth,
    /// The budget of `send-message`.
    pub send_message: BudgetHealth,
}
