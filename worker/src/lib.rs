//! The edge gateway: holds the admin key, lets in only those who belong, and speaks
//! the upstream's own paths.
//!
//! Rust decides, JavaScript carries. A request's life, as file names: [`route`] finds the
//! operation, [`access`] and [`oidc`] the caller, [`content`] the values; [`gate`] puts
//! them together and decides. [`budget`], [`idempotency`] and [`breaker`] say whether a
//! request may go upstream, [`views`] what the cache may answer, [`upstream`] what becomes
//! of the answer, [`ledger`] and [`webhook`] what is kept and told of a job.
//!
//! What is decided is plain data, so all of it is tested without workerd. The shell that
//! carries it out is `worker/entry/`; `bindings` is all that it can call.

pub mod access;
pub mod answer;
pub mod breaker;
pub mod budget;
pub mod config;
pub mod content;
pub mod cors;
pub mod gate;
pub mod idempotency;
pub mod json;
pub mod ledger;
pub mod oidc;
pub mod problem;
pub mod route;
pub mod trace;
pub mod turnstile;
pub mod upstream;
pub mod views;
pub mod webhook;

#[cfg(target_arch = "wasm32")]
mod bindings;
