//! Reservations. The outcome of a request decides whether its reservation counts.

use quillgate::{Millis, RateLimitPolicy};
use serde::{Deserialize, Serialize};

use crate::budget::Ceiling;
use crate::budget::upstream_block::UpstreamBlock;
use crate::http::response::HeaderFields;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct BudgetRequest {
    pub policy: RateLimitPolicy,
    pub caller: String,
    /// A reservation counts towards the quota if its caller, or one of its ceilings, is `caller`.
    pub quota: Option<u32>,
    pub ceilings: Vec<Ceiling>,
}

impl BudgetRequest {
    /// Without limits of a caller.
    pub const fn of_all(policy: RateLimitPolicy) -> Self {
        Self {
            policy,
            caller: String::new(),
            quota: None,
            ceilings: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Reservation {
    /// In the table `reservation`.
    pub id: u64,
    pub policy: RateLimitPolicy,
    /// If the request succeeds, this block is removed, unless it has changed in the meantime.
    pub probed: Option<UpstreamBlock>,
    pub fields: HeaderFields,
    pub left: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum ReservationOutcome {
    Succeeded,
    /// Mintlify may have counted the failed request.
    Counted,
    /// Mintlify has not counted the request.
    Released,
    /// After a 429, for this time.
    Blocked(Millis),
}
