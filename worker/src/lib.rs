//! The gateway of Quillgate: a Worker that holds the admin key of Mintlify, and authenticates callers
//! with scoped tokens. Modules that are compiled without the feature `runtime` perform no I/O and
//! read no clock, so their tests run natively.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
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
