use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;

/// Of one upstream request with all its attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    pub status: Option<u16>,
    pub milliseconds: u64,
    pub operator: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    pub upstream: Option<ExchangeMetrics>,
    /// The parameters of `Cache-Status`, which follow the cache's name.
    pub cache: Option<String>,
    /// If the budget was checked.
    pub budget_left: Option<u32>,
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// The total has the latest status and the first message for the operator.
    pub fn add_exchange(&mut self, later: ExchangeMetrics) {
        let earlier = self.upstream.take().unwrap_or_default();
        self.upstream = Some(ExchangeMetrics {
            status: later.status,
            milliseconds: earlier.milliseconds + later.milliseconds,
            operator: earlier.operator.or(later.operator),
        });
    }

    pub fn keep_operator_message(&mut self, problem: &Problem) {
        if problem.operator.is_some() {
            self.operator.clone_from(&problem.operator);
        }
    }

    /// The request's own message, or else that of the exchanges.
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}
