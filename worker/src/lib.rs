//! The gateway of Quillgate. The gateway is a Worker that holds the admin key of Mintlify. Callers
//! authenticate with scoped tokens.
//!
//! # Modules
//!
//! A request passes through these modules roughly in this order:
//!
//! 1. [`app`] admits requests and calls their handlers.
//! 2. [`http`] defines the parts of a request and a response: heads, problems, CORS, tracing.
//! 3. [`auth`] identifies callers: access tokens, trusted issuers, sessions and sign-in.
//! 4. [`jobs`] handles agent jobs: writes, idempotency, polling, pull requests, event streams and
//!    webhooks.
//! 5. [`analytics`] handles reports: queries, the page cache, exports and the daily archive.
//! 6. [`upstream`] sends requests to Mintlify and classifies the responses.
//! 7. [`budget`] limits the requests of callers, projects and the organization.
//! 8. `runtime` wraps the Workers runtime: SQL, D1, sockets, timers, `WebCrypto`.
//!
//! Modules that are compiled without the feature `runtime` perform no I/O and read no clock, so
//! their tests run natively.

#![allow(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "this crate is an application, not a library"
)]

pub mod analytics;
pub mod app;
pub mod auth;
pub mod bounded_cache;
pub mod budget;
pub mod hash;
pub mod host_error;
pub mod http;
pub mod jobs;
pub mod json;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod runtime;
pub mod upstream;
pub mod variable;
