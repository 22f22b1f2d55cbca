//! The wasm-bindgen bindings, in Node and in a browser: what crosses to the driver and back.
#![cfg(target_arch = "wasm32")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps what is not there fails right there"
)]

mod fake_driver;
mod tasks;
mod values;
