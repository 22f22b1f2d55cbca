use quillgate::Millis;
use serde::{Deserialize, Serialize};

/// The number of probes per window: a probe every 5 minutes if the window is an hour.
const PROBES_PER_WINDOW: u64 = 12;

/// A block of a policy, from a 429 of Mintlify to a set time or a successful probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct UpstreamBlock {
    pub until: Millis,
    /// When a single request may be sent as a probe.
    pub probe_at: Millis,
}

impl UpstreamBlock {
    pub fn new(until: Millis, window: Millis, now: Millis) -> Self {
        Self {
            until,
            probe_at: next_probe(window, now),
        }
    }

    /// The new block never ends before the earlier block.
    pub fn extend(earlier: Option<Self>, time: Millis, window: Millis, now: Millis) -> Self {
        let until = now.plus(time);
        let until = earlier.map_or(until, |earlier| earlier.until.max(until));
        Self::new(until, window, now)
    }

    /// Returns `None` if a request can be sent now, possibly as a probe.
    pub fn refuses_until(&self, now: Millis) -> Option<Millis> {
        (now < self.until && now < self.probe_at).then_some(self.until)
    }
}

pub fn next_probe(window: Millis, now: Millis) -> Millis {
    now.plus(Millis((window.0 / PROBES_PER_WINDOW).max(1)))
}
