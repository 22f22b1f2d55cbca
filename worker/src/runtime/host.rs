use std::cell::RefCell;

use futures_util::TryStreamExt as _;
use js_sys::{Array, JsString, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue, UnwrapThrowExt as _};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, ReadableStream, Response, ResponseInit};
use worker::ByteStream;
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
    let init = ResponseInit::new();
    init.set_status(status);
    init.set_headers(&to_record(headers));
    // web-sys has one constructor per type of body. JavaScript's accepts every type.
    let body = body.unchecked_ref();
    let response =
        Response::new_with_opt_readable_stream_and_init(Some(body), &init).unwrap_throw();
    for cookie in headers.later_cookies() {
        response
            .headers()
            .append("set-cookie", cookie)
            .unwrap_throw();
    }
    response
}

// Header fields cross the boundary of the wasm module as one string, which is faster than one call
// per field.

pub fn read_headers(headers: &Headers) -> HeaderFields {
    // Neither names nor values can contain line feeds.
    let text = String::from(Array::from(headers).flat(1).join("\n"));
    let mut parts = text.split('\n').map(str::to_owned);
    let mut fields = HeaderFields::default();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        fields.set(name, value);
    }
    fields
}

/// Without [`HeaderFields::later_cookies`]. The runtime reads an object faster than pairs.
pub fn to_record(fields: &HeaderFields) -> JsValue {
    parse_json(&JsString::from(fields.to_json())).unwrap_throw()
}

/// The `Content-Length` of a response. `None` if the body is encoded, because it can be longer after
/// decoding.
pub fn plain_length(headers: &HeaderFields) -> Option<usize> {
    match headers.get("content-encoding") {
        None | Some("identity") => headers.get("content-length")?.parse().ok(),
        Some(_) => None,
    }
}

/// `None` for a body of more than `max_bytes` bytes. If the length is known, one call reads the
/// body: each chunk of a stream costs about 50 µs.
pub async fn read_body(
    response: &Response,
    length: Option<usize>,
    max_bytes: usize,
) -> HostResult<Option<Vec<u8>>> {
    match length {
        Some(length) if length > max_bytes => Ok(None),
        Some(_) => {
            let buffer = JsFuture::from(response.array_buffer()?).await?;
            let bytes = Uint8Array::new(&buffer);
            Ok((bytes.length() as usize <= max_bytes).then(|| bytes.to_vec()))
        }
        None => read_stream(response.body(), max_bytes).await,
    }
}

/// Cancels a body of more than `max_bytes` bytes.
pub async fn read_stream(
    body: Option<ReadableStream>,
    max_bytes: usize,
) -> HostResult<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let Some(body) = body else {
        return Ok(Some(bytes));
    };
    let mut chunks = ByteStream::from(body);
    while let Some(chunk) = chunks.try_next().await? {
        bytes.extend(chunk);
        if bytes.len() > max_bytes {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}
