//! The metrics of requests. The gateway reports these metrics in the log and in `Server-Timing`.

use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;

/// Metrics of one upstream request. They cover all of its attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    /// The HTTP status of the upstream's response. `None` if the upstream did not respond.
    pub status: Option<u16>,
    /// The time until the response was read or the request failed, in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator.
    pub operator: Option<String>,
}

/// Metrics of a caller's request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    /// The combined metrics of all exchanges with the upstream, or `None` without an exchange.
    pub upstream: Option<ExchangeMetrics>,
    /// The parameters of `Cache-Status`, which follow the cache's name.
    pub cache: Option<String>,
    /// The number of requests left in the budget, if the gateway checked the budget.
    pub budget_left: Option<u32>,
    /// A message for the operator.
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// Adds an exchange to the earlier exchanges. The combined metrics have the status of the
    /// latest exchange, the total duration, and the first message for the operator.
    pub fn add_exchange(&mut self, later: ExchangeMetrics) {
        let earlier = self.upstream.take().unwrap_or_default();
        self.upstream = Some(ExchangeMetrics {
            status: later.status,
            milliseconds: earlier.milliseconds + later.milliseconds,
            operator: earlier.operator.or(later.operator),
        });
    }

    /// Records the message of a problem for the operator. If the problem has no message, an earlier
    /// message remains.
    pub fn keep_operator_message(&mut self, problem: &Problem) {
        if problem.operator.is_some() {
            self.operator.clone_from(&problem.operator);
        }
    }

    /// Returns the request's own message for the operator, or else the message of the exchanges
    /// with the upstream, if any.
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    /// Formats the value of the `Server-Timing` header with the total duration of the upstream
    /// exchanges. Returns `None` without an exchange.
    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}
