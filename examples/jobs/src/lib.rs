//! A page that starts an agent job through a gateway, watches it until it finishes, and shows page
//! views in a table. Two lines of JavaScript load the WebAssembly module; the rest is Rust.
#![cfg(target_arch = "wasm32")]

mod job;
mod page;
mod views;

use quillgate::Client;
use quillgate::ValidationError;
use wasm_bindgen::prelude::*;

/// Adds the event listeners. Runs when the module has loaded.
///
/// # Errors
/// Returns an error if an element is missing from `index.html`.
#[wasm_bindgen(start)]
pub fn start() -> Result<(), JsValue> {
    page::on_click("stop", job::stop)?;
    page::on_submit("job", job::start)?;
    page::on_submit("views", views::show)
}

/// Builds a client from the fields at the top of the page.
fn connect() -> Result<Client, ValidationError> {
    Client::builder()
        .gateway(page::value("gateway"), page::value("token"))
        .project(page::value("project"))
        .build()
}
