//! Reservations of a budget and their outcomes.

use quillgate::{Millis, RateLimitPolicy};

use crate::budget::Ceiling;
use crate::budget::rate_limit::RateLimitFields;

/// A caller's request for a reservation.
#[derive(Debug, Clone)]
pub struct BudgetRequest {
    /// The policy.
    pub policy: RateLimitPolicy,
    /// The caller.
    pub caller: String,
    /// The token's own quota: its maximum number of reservations in the window.
    pub quota: Option<u32>,
    /// The ceilings that apply to the caller.
    pub ceilings: Vec<Ceiling>,
}

/// A granted reservation.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// Its id.
    pub id: u64,
    /// Its policy.
    pub policy: RateLimitPolicy,
    /// The budget's header fields.
    pub fields: RateLimitFields,
    /// The number of slots left.
    pub left: u32,
}

/// The outcome of a request that held a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationOutcome {
    /// Mintlify accepted the request.
    Succeeded,
    /// The request failed.
    Failed {
        /// Whether Mintlify may have counted the request.
        is_counted: bool,
        /// The time for which Mintlify refuses further requests, after a 429.
        blocked_for: Option<Millis>,
    },
}
