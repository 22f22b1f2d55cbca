//! Random faults: a share of all requests goes wrong, the same ones again with the same seed.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::random::SplitMix64;

const THOUSAND: u64 = 1000;

/// How many requests go wrong, and which.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FaultRate {
    per_thousand: PerThousand,
    #[serde(default)]
    seed: u64,
}

/// From none to all of a thousand.
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

/// Decides which requests go wrong and how, and counts them.
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

/// What was asked for, and what has come of it.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Injected {
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

    /// The fault that the next request meets, if it meets one.
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

    /// Lets no further request go wrong; what was counted stays.
    pub(crate) fn stop(&mut self) {
        self.rate = PerThousand::default();
    }

    pub(crate) fn report(&self) -> Injected {
        Injected {
            per_thousand: self.rate.0,
            injected: self.injected.clone(),
        }
    }
}

/// Every way to go wrong: reset, cut, malformed or 5xx, before the request is processed or after.
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
            Fault::fail_after(StatusCode::INTERNAL_SERVER_ERROR),
        ),
        ("502-page", Fault::error_page(StatusCode::BAD_GATEWAY)),
        ("503", Fault::refuse(StatusCode::SERVICE_UNAVAILABLE)),
        ("504-after", Fault::fail_after(StatusCode::GATEWAY_TIMEOUT)),
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

    /// Which of the requests went wrong.
    fn strike(faults: &mut RandomFaults) -> Vec<u64> {
        (0..REQUESTS).filter(|_| faults.next().is_some()).collect()
    }

    #[test]
    fn the_same_seed_strikes_the_same_requests() {
        let struck = strike(&mut faults(50, 7));
        assert_eq!(struck, strike(&mut faults(50, 7)));
        assert_ne!(struck, strike(&mut faults(50, 8)));
    }

    #[test]
    fn as_many_requests_go_wrong_as_were_asked_for_and_in_every_way() {
        let mut twentieth = faults(50, 1);
        let struck = strike(&mut twentieth).len();
        // A thousand, and five standard deviations of a binomial distribution.
        assert!((846..=1154).contains(&struck), "{struck}");
        assert_eq!(twentieth.injected.values().sum::<u64>(), struck as u64);
        assert_eq!(twentieth.injected.len(), kinds().len());
        assert!(strike(&mut faults(0, 1)).is_empty());
        assert_eq!(strike(&mut faults(1000, 1)).len() as u64, REQUESTS);
    }

    #[test]
    fn a_rate_that_makes_no_sense_is_not_accepted() {
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
