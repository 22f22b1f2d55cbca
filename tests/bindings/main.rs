//! The wasm-bindgen bindings, in Node and in a browser.
#![cfg(target_arch = "wasm32")]
