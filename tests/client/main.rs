//! Tests of the client with a fake server and clock, and of its native host with a local server.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "unwrapping a missing value fails the test"
)]

mod conformance;
mod connection_failures;
mod deployments;
mod examples;
mod export;
mod fake_host;
mod faults;
mod job_events;
mod native_host;
mod pages;
mod requests;
mod retry;
mod watch;
