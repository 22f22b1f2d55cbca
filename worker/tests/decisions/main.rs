//! Native tests of the Worker's modules. These modules do not need the Workers runtime.
//!
//! The top-level folders have the same names as in `worker/src`.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps a missing value must fail"
)]

mod analytics;
mod app;
mod auth;
mod bounded_cache;
mod budget;
mod fixtures;
mod hash;
mod host_error;
mod http;
mod jobs;
mod json;
mod upstream;
