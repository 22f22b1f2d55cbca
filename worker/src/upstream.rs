pub mod attempts;
pub mod breaker;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod client;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod connections;
pub mod failure;
pub mod head;
pub mod key_redaction;
pub mod metrics;
pub mod page_check;
pub mod permits;
pub mod raw_json;
pub mod refusal;
pub mod request;
pub mod snapshot;
#[cfg(all(test, target_arch = "wasm32", feature = "runtime"))]
mod tests;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod transport;
pub mod upstream_settings;
