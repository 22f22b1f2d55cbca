use js_sys::{Function, Reflect};
use quillgate::client::Client;
use wasm_bindgen::{JsCast, JsValue};

/// Sends requests through the service binding of a Worker.
pub fn through(client: Client, binding: &JsValue) -> Result<Client, JsValue> {
    let fetch: Function = Reflect::get(binding, &"fetch".into())?.dyn_into()?;
    Ok(client.with_fetch(fetch.bind0(binding)))
}
