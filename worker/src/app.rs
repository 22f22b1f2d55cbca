//! The application: routes, plans and handlers.

#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod export;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod handler;
pub mod health;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod isolate;
pub mod log;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod message_tests;
pub mod plan;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod report;
pub mod route;
#[cfg(all(target_arch = "wasm32", feature = "trap-route"))]
pub(crate) mod trap;
