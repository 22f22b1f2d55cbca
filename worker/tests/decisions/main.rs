//! The Worker's decisions, natively: who is let in, which requests go upstream, and what
//! becomes of the answers.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps what is not there fails right there"
)]

mod access_token;
mod archive;
mod bounded_cache;
mod breaker;
mod budget;
mod caller;
mod config;
mod content;
mod cors;
mod events;
mod export;
mod fixtures;
mod hkdf;
mod idempotency;
mod identity;
mod json;
mod jwks;
mod ledger;
mod log;
mod oidc;
mod packed_head;
mod permits;
mod plan;
mod poll;
mod poll_budget;
mod problem;
mod read_budget;
mod report_page;
mod report_query;
mod response;
mod route;
mod search;
mod session;
mod trace;
mod turnstile;
mod upstream;
mod url;
mod usage;

mod watch;
mod webhook;
