//! Requests to Mintlify.
//!
//! 1. [`request`] describes a request, and [`attempts`] selects its key and decides whether to
//!    retry.
//! 2. `client` sends the request through `transport`, within the limits of [`permits`] and
//!    [`breaker`].
//! 3. [`failure`] classifies a failure by the response [`head`], or by a
//!    [`TransportError`](failure::TransportError) if no response arrived. The module also
//!    determines the outcome to store under the idempotency key.

pub mod attempts;
pub mod breaker;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod client;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod connections;
pub mod failure;
pub mod head;
pub mod json_scanner;
pub mod key_redaction;
pub mod metrics;
pub mod page_check;
pub mod permits;
pub mod request;
pub mod settings;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod tests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod transport;
