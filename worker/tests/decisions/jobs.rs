//! Job tests.

mod events;
mod idempotency;
mod job_row;
mod machine;
mod poll;
mod poll_budget;
mod pull_request;
mod records;
mod search;
mod webhook;
