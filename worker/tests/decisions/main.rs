//! The Worker's decisions, natively: who is let in, which requests go upstream and what
//! becomes of the answers.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps what is not there fails right there"
)]

mod access;
mod config;
mod cors;
mod gate;
mod problem;
mod route;
mod setting;
mod upstream;
mod values;
