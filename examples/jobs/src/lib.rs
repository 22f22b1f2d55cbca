//! A page that starts an agent job through a gateway, watches it until it ends, and shows page views
//! as a table. It has no JavaScript but the three lines that load it.
#![cfg(target_arch = "wasm32")]

mod job;
mod page;
mod views;

use quillgate::ProjectId;
use quillgate::client::{Client, Error, Server};
use quillgate::credential::{AccessToken, BaseUrl};
use wasm_bindgen::prelude::*;

/// Runs when the module is loaded.
///
/// # Errors
/// When the document has not the elements of `index.html`.
#[wasm_bindgen(start)]
pub fn start() -> Result<(), JsValue> {
    page::on("submit", "job", job::start)?;
    page::on("click", "stop", job::stop)?;
    page::on("submit", "views", views::show)
}

/// A client of what the fields at the top say.
fn connect() -> Result<Client, Error> {
    let base = BaseUrl::new(&page::value("gateway"))?;
    let server = Server::gateway(base, AccessToken::new(page::value("token"))?);
    Ok(Client::new(server, ProjectId::new(page::value("project"))?))
}
