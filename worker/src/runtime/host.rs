use std::cell::RefCell;

use js_sys::{Array, JsString, Promise, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue, UnwrapThrowExt as _};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStream, Response};
use worker::worker_sys::SqlStorage;

use crate::http::response::HeaderFields;
use crate::json;
use crate::runtime::error::{HostError, HostResult};

#[wasm_bindgen]
extern "C" {
    /// The functions of `worker/entry/`, which still work after a trap of the wasm module.
    #[derive(Clone)]
    pub type Host;

    #[wasm_bindgen(method, catch)]
    pub fn query(
        this: &Host,
        sql: &SqlStorage,
        statement: &str,
        values: &str,
        text: Option<&JsString>,
    ) -> HostResult<Array>;

    /// Resolves to [`Exchanged`], or rejects with `timeout` when the time is up, which includes the
    /// body. See `exchange` in `worker/entry/host.js`.
    #[wasm_bindgen(method)]
    pub fn exchange(this: &Host, url: &str, init: &str, milliseconds: f64) -> Promise;

    #[wasm_bindgen(method, js_name = readBytes)]
    fn read_bytes(this: &Host, body: Option<&ReadableStream>, max_bytes: usize) -> Promise;

    #[wasm_bindgen(method)]
    fn respond(this: &Host, status: u16, fields: &str, body: &JsValue) -> Response;

    pub type Exchanged;
    #[wasm_bindgen(method, getter)]
    pub fn status(this: &Exchanged) -> u16;
    #[wasm_bindgen(method, getter)]
    pub fn fields(this: &Exchanged) -> String;
    #[wasm_bindgen(method)]
    pub fn read(this: &Exchanged, max_bytes: usize) -> Promise;
    #[wasm_bindgen(method)]
    pub fn close(this: &Exchanged);

    #[wasm_bindgen(method, js_name = openStream)]
    fn open_stream(this: &Host, source: JsValue, signal: &AbortSignal) -> ReadableStream;

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

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
}

pub fn set_host(host: Host) {
    HOST.set(Some(host));
}

pub fn host() -> HostResult<Host> {
    #[cfg(test)]
    set_host(super::tests::HOST.with(Host::clone));
    HOST.with_borrow(Clone::clone)
        .ok_or_else(|| HostError::new("the entry is not attached"))
}

/// Opens a stream that also ends if the module traps. `source.next` returns a promise of an array:
/// empty at the end, else the next chunk and, optionally, the ending. If the next call fails, the
/// stream ends with that ending. `source.cancel` is called when the client disconnects.
pub fn open_stream(source: impl Into<JsValue>, signal: &AbortSignal) -> HostResult<ReadableStream> {
    Ok(host()?.open_stream(source.into(), signal))
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

/// `body` is a string, a stream or `null`. Throws if a header field is invalid.
pub fn make_response(status: u16, headers: &HeaderFields, body: &JsValue) -> Response {
    let fields = json::to_text(headers);
    host().unwrap_throw().respond(status, &fields, body)
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
    let read = JsFuture::from(host()?.read_bytes(body.as_ref(), max_bytes)).await?;
    Ok(read.dyn_ref().map(Uint8Array::to_vec))
}
