//! Tests of the async client in Node and in a browser.
#![cfg(target_arch = "wasm32")]
#![expect(
    clippy::unwrap_used,
    reason = "unwrapping a missing value fails the test"
)]

mod abort;
mod drop;
mod examples;
mod fake_host;
mod faults;
mod pages;
mod requests;
mod retry;
mod watch;
