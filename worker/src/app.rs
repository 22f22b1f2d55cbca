pub mod admission;
pub mod config;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod context;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod fetch;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod handlers;
pub mod health;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod isolate;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod issuer_keys;
pub mod log;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod message_tests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod respond;
pub mod routes;
#[cfg(all(target_arch = "wasm32", feature = "trap-route"))]
pub(crate) mod trap;
