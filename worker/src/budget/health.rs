use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetHealth {
    pub limit: u32,
    /// 0 while Mintlify blocks the policy.
    pub left: u32,
    pub blocked_until: Option<u64>,
}
