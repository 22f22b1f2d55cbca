//! The application: routes, plans and handlers.

pub mod action;
pub mod config;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod export;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod handler;
pub mod health;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod isolate;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod issuer_keys;
pub mod log;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod message_tests;
pub mod plan;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod report;
#[cfg(all(target_arch = "wasm32", feature = "trap-route"))]
pub(crate) mod trap;
pub mod write_plan;
