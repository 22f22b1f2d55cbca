//! Random faults, which the seed determines.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::fault::Fault;
use crate::random::SplitMix64;

const THOUSAND: u64 = 1000;

/// The share of requests that fail, and the seed that selects them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FaultRate {
    per_thousand: u64,
    #[serde(default)]
    seed: u64,
}

/// Selects faults for requests and counts them.
pub(crate) struct RandomFaults {
    rate: u64,
    random: SplitMix64,
    injected: BTreeMap<&'static str, u64>,
}

impl Default for RandomFaults {
    fn default() -> Self {
        Self::new(FaultRate::default())
    }
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
        if self.random.below(THOUSAND) >= self.rate {
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
        self.rate = 0;
    }

    /// The number of injected faults by kind.
    pub(crate) fn injected(&self) -> &BTreeMap<&'static str, u64> {
        &self.injected
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
        ("empty-success", Fault::Empty { status: 200 }),
        ("500-after", Fault::error(500, true)),
        ("502-page", Fault::Html { status: 502 }),
        ("503", Fault::error(503, false)),
        ("504-after", Fault::error(504, true)),
    ]
}
