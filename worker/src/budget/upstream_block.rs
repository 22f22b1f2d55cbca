//! Blocks of a policy. A block begins when the upstream responds 429, and ends at a set time or
//! after a successful probe.

use quillgate::Millis;

/// The number of probes per window: a probe every 5 minutes if the window is an hour.
const PROBES_PER_WINDOW: u64 = 12;

/// A block of a policy after a 429 from the upstream.
///
/// Single requests are still sent at intervals as probes. A successful probe ends the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpstreamBlock {
    /// When the block ends.
    pub until: Millis,
    /// When the next request may be sent as a probe.
    pub probe_at: Millis,
}

impl UpstreamBlock {
    /// Creates a block that ends at `until`. The first probe may be sent after a twelfth of the
    /// window.
    pub fn new(until: Millis, window: Millis, now: Millis) -> Self {
        Self {
            until,
            probe_at: next_probe(window, now),
        }
    }

    /// Creates or extends a block after a 429. The new block never ends before the earlier block.
    pub fn extend(earlier: Option<Self>, time: Millis, window: Millis, now: Millis) -> Self {
        let until = now.plus(time);
        let until = earlier.map_or(until, |earlier| earlier.until.max(until));
        Self::new(until, window, now)
    }

    /// Returns when the block ends, or `None` if a request can be sent now, possibly as a probe.
    pub fn refuses_until(&self, now: Millis) -> Option<Millis> {
        (now < self.until && now < self.probe_at).then_some(self.until)
    }
}

/// Returns the time of the next probe after a 429 or another probe.
pub fn next_probe(window: Millis, now: Millis) -> Millis {
    now.plus(Millis((window.0 / PROBES_PER_WINDOW).max(1)))
}
