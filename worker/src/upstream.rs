//! Requests to Mintlify.
//!
//! 1. [`request`] describes a request. [`attempts`] selects the admin key and decides whether to
//!    retry.
//! 2. In a Durable Object, the request waits for a permit from [`permits`]. `client` then sends the
//!    request through `transport`, unless a [`breaker`] refuses.
//! 3. [`failure`] classifies failures, and [`refusal`] finds the reason of a 401 or 403.
//!    [`snapshot`] reads a job or a deployment, [`page_check`] checks a page of analytics, and
//!    [`key_redaction`] finds admin keys in responses.

pub mod attempts;
pub mod breaker;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod client;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod connections;
pub mod failure;
pub mod head;
pub mod key_redaction;
pub mod metrics;
pub mod page_check;
pub mod permits;
pub mod raw_json;
pub mod refusal;
pub mod request;
pub mod snapshot;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod tests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod transport;
pub mod upstream_settings;
