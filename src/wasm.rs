//! The wasm-bindgen bindings: what the npm package calls.
//!
//! Rust decides, JavaScript carries. A call crosses into wasm with its parameters and
//! comes back with the host's own objects: a body is parsed by the host, checked and
//! copied once by the generated `decode.js`, and its rows are never seen here.
//!
//! Everything that goes wrong is handed over as a plain object with a `kind` (see
//! [`fault`]), of which the package makes its error classes.

mod call;
mod engine;

mod fault;
mod host;
mod pages;
mod params;
mod watch;

/// A third of the default allocator's size, and quicker.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

pub use engine::Engine;
pub use pages::Pages;
pub use watch::Watch;
