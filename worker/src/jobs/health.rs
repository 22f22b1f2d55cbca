//! The health of a project's Durable Object, for operators.

#[cfg(doc)]
use quillgate::RateLimitPolicy;
use serde::{Deserialize, Serialize};

use crate::budget::health::BudgetHealth;
use crate::upstream::breaker;

/// The health of a project's Durable Object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectHealth {
    /// The breaker's state.
    pub breaker: breaker::State,
    /// The budgets by name.
    pub budgets: ProjectBudgets,
    /// The number of `WebSocket`s of event streams and long polls.
    pub watchers: u64,
    /// The number of pending webhooks.
    pub webhooks_waiting: u64,
    /// The number of alarms since the object's last start.
    pub alarms: u64,
}

/// A project's budgets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProjectBudgets {
    /// [`RateLimitPolicy::CreateJob`].
    pub create_job: BudgetHealth,
    /// [`RateLimitPolicy::SendMessage`].
    pub send_message: BudgetHealth,
}
