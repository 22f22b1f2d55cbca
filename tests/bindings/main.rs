//! Tests of the wasm-bindgen bindings in Node and in a browser.
#![cfg(target_arch = "wasm32")]
#![expect(
    clippy::unwrap_used,
    reason = "unwrapping a missing value fails the test"
)]

mod fake_driver;
mod values;
