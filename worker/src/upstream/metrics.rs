//! Metrics of a request for the log and `Server-Timing`.

use serde::{Deserialize, Serialize};

/// Metrics of an exchange with the upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    /// The upstream's status, or `None` without a response.
    pub status: Option<u16>,
    /// The duration in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator.
    pub operator: Option<String>,
}

/// Metrics of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    /// The exchange with the upstream, if any.
    pub upstream: Option<ExchangeMetrics>,
    /// The value of `Cache-Status` after the cache's name.
    pub cache: Option<String>,
    /// The number of requests left in the budget.
    pub budget_left: Option<u32>,
    /// A message for the operator.
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// Returns the request's message for the operator, or else the message of its exchange.
    #[must_use]
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    /// Formats `Server-Timing` with the duration of the upstream exchange.
    #[must_use]
    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}
