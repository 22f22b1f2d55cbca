//! Agent jobs. The gateway forwards new jobs and follow-ups to Mintlify, stores a record of each
//! job, and polls the job for changes. Event streams report the changes. Webhooks announce that a
//! job finished or that polling stopped. The gateway also reads the states of pull requests.

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
pub mod search;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod webhook;
pub mod write;
