//! Agent jobs: idempotency, polling, event streams, search and webhooks.

mod events;
mod idempotency;
mod ledger;
mod log;
mod poll;
mod poll_budget;
mod search;
mod watch;
mod webhook;
