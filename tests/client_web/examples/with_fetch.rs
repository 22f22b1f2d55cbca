use js_sys::{Function, Reflect};
use quillgate::client::FetchHost;
use wasm_bindgen::{JsCast, JsValue};

/// Returns a host that sends requests through the service binding of a Worker.
pub fn through(binding: &JsValue) -> Result<FetchHost, JsValue> {
    let fetch: Function = Reflect::get(binding, &"fetch".into())?.dyn_into()?;
    Ok(FetchHost::with_fetch(fetch.bind0(binding)))
}
