//! Agent jobs: idempotency, polling, event streams, search and webhooks.

mod events;
mod idempotency;
mod log;
mod poll;
mod poll_budget;
mod records;
mod search;
mod webhook;
