//! The Worker's decisions, natively: who is let in, which requests go upstream and what
//! becomes of the answers.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps what is not there fails right there"
)]

mod access;
mod answer;
mod breaker;
mod budget;
mod config;
mod cors;
mod gate;
mod idempotency;
mod ledger;
mod oidc;
mod problem;
mod route;
mod setting;
mod trace;
mod upstream;
mod values;
mod views;
mod webhook;
