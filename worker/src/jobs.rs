//! Agent jobs: idempotent writes, stored records, polling, event streams and webhooks.

pub mod events;
pub mod health;
pub mod idempotency;
pub mod job_row;
pub mod poll;
pub mod poll_budget;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod project_object;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod project_stub;
pub mod pull_request;
pub mod records;
pub mod search;
pub mod settings;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod webhook;
pub mod write;
