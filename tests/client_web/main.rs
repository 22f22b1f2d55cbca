//! Tests of the fetch host in Node.js and in a browser.
#![cfg(target_arch = "wasm32")]
#![expect(
    clippy::unwrap_used,
    reason = "unwrapping a missing value fails the test"
)]

mod abort;
mod conformance;
mod drop;
mod fake_host;
mod job_events;
mod requests;
#[path = "examples/signal.rs"]
mod signal;
#[path = "examples/with_fetch.rs"]
mod with_fetch;
