//! Jobs: how a request is carried out only once, what is kept of a job, when it is polled, and how
//! its end is announced.

pub mod idempotency;
pub mod ledger;
pub mod poll;
pub mod poll_budget;
pub mod search;
pub mod webhook;
