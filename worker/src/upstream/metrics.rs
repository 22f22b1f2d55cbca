//! The metrics of requests, for the log and `Server-Timing`.

use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;

/// Metrics of one upstream request with all its attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    /// The HTTP status, if the upstream responded.
    pub status: Option<u16>,
    /// The duration in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator.
    pub operator: Option<String>,
}

/// Metrics of a caller's request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    /// The combined metrics of all exchanges with the upstream.
    pub upstream: Option<ExchangeMetrics>,
    /// The parameters of `Cache-Status`, which follow the cache's name.
    pub cache: Option<String>,
    /// Requests left in the budget, if it was checked.
    pub budget_left: Option<u32>,
    /// A message for the operator.
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// Adds an exchange. The combined metrics have the latest status, the total duration, and the
    /// first message for the operator.
    pub fn add_exchange(&mut self, later: ExchangeMetrics) {
        let earlier = self.upstream.take().unwrap_or_default();
        self.upstream = Some(ExchangeMetrics {
            status: later.status,
            milliseconds: earlier.milliseconds + later.milliseconds,
            operator: earlier.operator.or(later.operator),
        });
    }

    /// Records the problem's message for the operator, if any.
    pub fn keep_operator_message(&mut self, problem: &Problem) {
        if problem.operator.is_some() {
            self.operator.clone_from(&problem.operator);
        }
    }

    /// Returns the request's own message for the operator, or else that of the exchanges.
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    /// Formats `Server-Timing` with the total duration of the exchanges, if any.
    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}
