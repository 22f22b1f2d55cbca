//! The outcome of a request that held a slot of a budget.

use quillgate::Millis;

/// The outcome of a request that held a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotOutcome {
    /// Mintlify accepted the request.
    Succeeded,
    /// The request failed.
    Failed {
        /// Whether Mintlify may have counted it.
        count: SlotCount,
        /// The time for which Mintlify refuses further requests, after a 429.
        closed_for: Option<Millis>,
    },
}

/// Whether a slot still counts after a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotCount {
    /// Mintlify may have counted the request.
    Keep,
    /// Mintlify did nothing.
    Release,
}
