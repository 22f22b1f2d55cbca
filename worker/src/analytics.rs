pub mod analytics_settings;
pub mod archive;
pub mod export;
pub mod health;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod organization_object;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod organization_stub;
pub mod page;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod page_store;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod pages;
pub mod query;
