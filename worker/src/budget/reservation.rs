//! Reservations of a budget. A request to the upstream holds a reservation, whose outcome decides
//! whether the request counts.

use quillgate::{Millis, RateLimitPolicy};
use serde::{Deserialize, Serialize};

use crate::budget::Ceiling;
use crate::budget::upstream_block::UpstreamBlock;
use crate::http::response::HeaderFields;

/// A caller's request for a reservation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct BudgetRequest {
    /// The policy whose budget is requested.
    pub policy: RateLimitPolicy,
    /// The key of the caller: see [`crate::auth::caller::Caller::key`].
    pub caller: String,
    /// The caller's own quota: a maximum number of reservations in any window. A reservation counts
    /// if its caller, or one of its ceilings, has the name `caller`.
    pub quota: Option<u32>,
    /// The ceilings that apply to the caller.
    pub ceilings: Vec<Ceiling>,
}

/// The budget that is reserved for one upstream request.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// The id of the reservation's row in the table `reservation`.
    pub id: u64,
    /// The policy whose budget the reservation counts against.
    pub policy: RateLimitPolicy,
    /// The block that the request probes, if any. If the request succeeds, the block is removed,
    /// unless the stored block has changed in the meantime.
    pub probed: Option<UpstreamBlock>,
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
    /// The request failed, but Mintlify may have counted it.
    Counted,
    /// Mintlify has not counted the request.
    Released,
    /// Mintlify responded 429 and refuses further requests for this time.
    Blocked(Millis),
}
