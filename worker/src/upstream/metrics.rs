//! What the log and `Server-Timing` contain about a request.

use serde::{Deserialize, Serialize};

/// What is known about an exchange with the upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    /// The upstream's status; `None` when it did not answer.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// What the operator has to fix.
    pub operator: Option<String>,
}

/// What is known about a request apart from its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    /// The exchange with the upstream, if there was one.
    pub upstream: Option<ExchangeMetrics>,
    /// `Cache-Status` after the cache's name.
    pub cache: Option<String>,
    /// Slots left in the budget.
    pub budget_left: Option<u32>,
    /// What the operator has to fix.
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// What the operator has to fix, in the gateway or with the upstream's key.
    #[must_use]
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    /// `Server-Timing`: how much of the time the upstream took.
    #[must_use]
    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}
