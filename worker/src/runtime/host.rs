use js_sys::{Array, JsString, Promise, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, Response};
use worker::worker_sys::SqlStorage;

use crate::http::response::HeaderFields;
use crate::json;
use crate::runtime::error::HostResult;

#[wasm_bindgen(module = "/entry/host.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    pub fn query(
        sql: &SqlStorage,
        statement: &str,
        values: &str,
        text: Option<&JsString>,
    ) -> HostResult<Array>;

    /// Resolves to [`Exchanged`], or rejects with `timeout` when the time is up, which includes the
    /// body.
    pub fn exchange(url: &str, init: &str, milliseconds: f64) -> Promise;

    #[wasm_bindgen(js_name = readBytes)]
    fn read_bytes(body: Option<&ReadableStream>, max_bytes: usize) -> Promise;

    fn respond(status: u16, fields: &str, body: &JsValue) -> Response;
}

#[wasm_bindgen]
extern "C" {
    pub type Exchanged;
    #[wasm_bindgen(method, getter)]
    pub fn status(this: &Exchanged) -> u16;
    #[wasm_bindgen(method, getter)]
    pub fn fields(this: &Exchanged) -> String;
    #[wasm_bindgen(method)]
    pub fn read(this: &Exchanged, max_bytes: usize) -> Promise;
    #[wasm_bindgen(method)]
    pub fn close(this: &Exchanged);

    #[wasm_bindgen(js_namespace = console, js_name = log)]
    pub fn log_line(line: &str);
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    pub fn log_error(line: &str);

    /// The binding in js-sys takes a Rust string, so a page would be copied into wasm memory and
    /// back.
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = parse)]
    pub fn parse_json(text: &JsString) -> HostResult<JsValue>;
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = stringify)]
    pub fn stringify_json(value: &JsValue) -> HostResult<JsString>;
}

/// `body` is a string, a stream or `null`. Throws if a header field is invalid.
pub fn make_response(status: u16, headers: &HeaderFields, body: &JsValue) -> Response {
    respond(status, &json::to_text(headers), body)
}

pub fn log_for_operator(message: &str) {
    log_error(&json::to_text(&serde_json::json!({ "operator": message })));
}

/// As an error if it has a message for the operator.
pub fn log_entry(entry: &impl Serialize, operator: Option<&str>) {
    let line = json::to_text(entry);
    match operator {
        Some(_) => log_error(&line),
        None => log_line(&line),
    }
}

// Header fields cross the boundary of the wasm module as one string, which is faster than one call
// per field.

/// `parts` are alternately names and values.
pub fn read_fields<'a>(parts: impl Iterator<Item = &'a str>) -> HeaderFields {
    let mut parts = parts.map(str::to_owned);
    let mut fields = HeaderFields::default();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        fields.set(name, value);
    }
    fields
}

/// Cancels a body of more than `max_bytes` bytes.
pub async fn read_stream(
    body: Option<ReadableStream>,
    max_bytes: usize,
) -> HostResult<Option<Vec<u8>>> {
    let read = JsFuture::from(read_bytes(body.as_ref(), max_bytes)).await?;
    Ok(read.dyn_ref().map(Uint8Array::to_vec))
}
