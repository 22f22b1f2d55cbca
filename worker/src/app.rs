#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod admin;
pub mod admission;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod analytics;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod archive;
pub mod config;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod context;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod deployments;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod export;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod fetch;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod handlers;
pub mod health;
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
pub(crate) mod pull_requests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod respond;
pub mod routes;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod sessions;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod sign_in;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod streams;
#[cfg(all(target_arch = "wasm32", feature = "trap-route"))]
pub(crate) mod trap;
