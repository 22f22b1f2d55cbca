//! Reservations of a budget and their outcomes.

use quillgate::{Millis, RateLimitPolicy};
use serde::{Deserialize, Serialize};

use crate::budget::Ceiling;
use crate::http::response::HeaderFields;

/// A caller's request for a reservation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct BudgetRequest {
    /// The policy whose budget is requested.
    pub policy: RateLimitPolicy,
    /// The key of the caller, see [`crate::auth::caller::Caller::key`].
    pub caller: String,
    /// The token's own quota: the maximum number of reservations in any window that count under
    /// `caller`, as the key of a caller or as the name of a ceiling.
    pub quota: Option<u32>,
    /// The ceilings that apply to the caller.
    pub ceilings: Vec<Ceiling>,
}

/// A granted reservation.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// The id of its row in the log.
    pub id: u64,
    /// The policy whose budget it counts against.
    pub policy: RateLimitPolicy,
    /// If the request is a probe, the time of the probe after it. If the request succeeds, the
    /// block ends, unless the block has changed in the meantime.
    pub next_probe: Option<Millis>,
    /// The `RateLimit` header fields after this reservation.
    pub fields: HeaderFields,
    /// The number of slots left after this reservation.
    pub left: u32,
}

/// The outcome of a request that held a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationOutcome {
    /// Mintlify accepted the request.
    Succeeded,
    /// Mintlify did not accept the request, or the outcome is unknown.
    Failed {
        /// Whether Mintlify may have counted the request.
        is_counted: bool,
        /// How long Mintlify refuses further requests, if the response was a 429.
        blocked_for: Option<Millis>,
    },
}
