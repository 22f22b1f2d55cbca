//! Random faults, which the seed determines.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::random::SplitMix64;

const THOUSAND: u64 = 1000;

/// The share of requests that fail, and the seed that selects them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FaultRate {
    per_thousand: PerThousand,
    #[serde(default)]
    seed: u64,
}

/// A number from 0 to 1000.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(try_from = "u64")]
struct PerThousand(u64);

impl TryFrom<u64> for PerThousand {
    type Error = &'static str;

    fn try_from(count: u64) -> Result<Self, Self::Error> {
        let is_share = count <= THOUSAND;
        is_share
            .then_some(Self(count))
            .ok_or("perThousand must be from 0 to 1000")
    }
}

/// Selects faults for requests and counts them.
pub(crate) struct RandomFaults {
    rate: PerThousand,
    random: SplitMix64,
    injected: BTreeMap<&'static str, u64>,
}

impl Default for RandomFaults {
    fn default() -> Self {
        Self::new(FaultRate {
            per_thousand: PerThousand::default(),
            seed: 0,
        })
    }
}

/// The configured rate and the number of injected faults by kind.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FaultRateReport {
    per_thousand: u64,
    injected: BTreeMap<&'static str, u64>,
}

impl RandomFaults {
    pub(crate) fn new(FaultRate { per_thousand, seed }: FaultRate) -> Self {
        Self {
            rate: per_thousand,
            random: SplitMix64::named(seed, "faults"),
            injected: BTreeMap::new(),
        }
    }

    /// The fault for the next request, if any.
    pub(crate) fn next(&mut self) -> Option<Fault> {
        if self.random.below(THOUSAND) >= self.rate.0 {
            return None;
        }
        let kinds = kinds();
        let last = u64::try_from(kinds.len()).unwrap_or(1);
        let chosen = usize::try_from(self.random.below(last)).unwrap_or(0);
        let (name, fault) = kinds.into_iter().nth(chosen)?;
        *self.injected.entry(name).or_default() += 1;
        Some(fault)
    }

    /// Stops injecting faults. Keeps the counts.
    pub(crate) fn stop(&mut self) {
        self.rate = PerThousand::default();
    }

    pub(crate) fn report(&self) -> FaultRateReport {
        FaultRateReport {
            per_thousand: self.rate.0,
            injected: self.injected.clone(),
        }
    }
}

/// Every kind of fault: reset, truncated, malformed or 5xx, before or after processing.
fn kinds() -> [(&'static str, Fault); 11] {
    [
        ("reset", Fault::Reset { process: false }),
        ("reset-after", Fault::Reset { process: true }),
        ("cut-body", Fault::CutBody { bytes: None }),
        ("cut-head", Fault::CutBody { bytes: Some(0) }),
        ("cut-chunked", Fault::CutChunked { bytes: None }),
        ("malformed", Fault::MalformedJson),
        ("empty-success", Fault::empty(StatusCode::OK)),
        (
            "500-after",
            Fault::error_after(StatusCode::INTERNAL_SERVER_ERROR),
        ),
        ("502-page", Fault::error_page(StatusCode::BAD_GATEWAY)),
        ("503", Fault::error(StatusCode::SERVICE_UNAVAILABLE)),
        ("504-after", Fault::error_after(StatusCode::GATEWAY_TIMEOUT)),
    ]
}
