//! The application. The gateway plans an action from the head of each request, and runs the handler
//! of that action. The handlers of one resource share a file.

pub mod action;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod admin;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod analytics;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod archive;
pub mod config;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod dispatch;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod export;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod fetch;
pub mod health;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod identity;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod isolate;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod issuer_keys;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod jobs;
pub mod log;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod message_tests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod pending_request;
pub mod plan;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod post;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod pull_requests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod reply;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod request_context;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod sessions;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod sign_in;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod streams;
#[cfg(all(target_arch = "wasm32", feature = "trap-route"))]
pub(crate) mod trap;
pub mod write_plan;
