//! Agent jobs: writes, records, polls, event streams, webhooks and the states of pull requests.

pub mod events;
pub mod health;
pub mod idempotency;
pub mod job_row;
pub mod job_settings;
pub mod machine;
pub mod poll;
pub mod poll_budget;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod project_object;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod project_stub;
pub mod pull_request;
pub mod records;
pub mod resource;
pub mod search;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod webhook;
pub mod write;
