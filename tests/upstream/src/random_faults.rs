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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REQUESTS: u64 = 20_000;

    fn faults(per_thousand: u64, seed: u64) -> RandomFaults {
        RandomFaults::new(FaultRate {
            per_thousand: PerThousand(per_thousand),
            seed,
        })
    }

    /// The numbers of the requests that failed.
    fn hit_requests(faults: &mut RandomFaults) -> Vec<u64> {
        (0..REQUESTS).filter(|_| faults.next().is_some()).collect()
    }

    #[test]
    fn the_same_seed_hits_the_same_requests() {
        let hits = hit_requests(&mut faults(50, 7));
        assert_eq!(hits, hit_requests(&mut faults(50, 7)));
        assert_ne!(hits, hit_requests(&mut faults(50, 8)));
    }

    #[test]
    fn the_configured_share_of_requests_fails_in_every_way() {
        let mut twentieth = faults(50, 1);
        let hits = hit_requests(&mut twentieth).len();
        // A thousand, within five standard deviations of a binomial distribution.
        assert!((846..=1154).contains(&hits), "{hits}");
        assert_eq!(twentieth.injected.values().sum::<u64>(), hits as u64);
        assert_eq!(twentieth.injected.len(), kinds().len());
        assert!(hit_requests(&mut faults(0, 1)).is_empty());
        assert_eq!(hit_requests(&mut faults(1000, 1)).len() as u64, REQUESTS);
    }

    #[test]
    fn an_invalid_rate_is_rejected() {
        for rate in [
            json!({}),
            json!({ "perThousand": 1001 }),
            json!({ "perThousand": -1 }),
            json!({ "perThousand": 50, "kinds": [] }),
        ] {
            assert!(
                serde_json::from_value::<FaultRate>(rate.clone()).is_err(),
                "{rate}"
            );
        }
    }
}
