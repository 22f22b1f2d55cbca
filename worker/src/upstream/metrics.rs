//! Metrics of a request, which the log and `Server-Timing` report.

use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;

/// Metrics of a request to the upstream and its response, including retries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    /// The HTTP status of the upstream's response. `None` if it did not respond.
    pub status: Option<u16>,
    /// The time until the response was read or the request failed, in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator.
    pub operator: Option<String>,
}

/// Metrics of a caller's request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    /// The exchanges with the upstream, added up. `None` if nothing was sent.
    pub upstream: Option<ExchangeMetrics>,
    /// The value of `Cache-Status` after the cache's name.
    pub cache: Option<String>,
    /// The number of slots left in the budget, if the request checked it.
    pub budget_left: Option<u32>,
    /// A message for the operator.
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// Adds an exchange to those before it. The result has the later status, the sum of the
    /// durations, and the first message for the operator.
    pub fn add_exchange(&mut self, later: ExchangeMetrics) {
        let earlier = self.upstream.take().unwrap_or_default();
        self.upstream = Some(ExchangeMetrics {
            status: later.status,
            milliseconds: earlier.milliseconds + later.milliseconds,
            operator: earlier.operator.or(later.operator),
        });
    }

    /// Records a problem's message for the operator, if it has one. Replaces any earlier message.
    pub fn keep_operator_message(&mut self, problem: &Problem) {
        if problem.operator.is_some() {
            self.operator.clone_from(&problem.operator);
        }
    }

    /// Returns the request's message for the operator, or else the message of its exchange.
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    /// Formats `Server-Timing` with the duration of the upstream exchange.
    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}
