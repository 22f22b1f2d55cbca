//! Host functions without a wrapper in the `worker` crate or web-sys: `worker/entry/host.js`, with one
//! call per I/O operation, and a few globals.

use js_sys::{JsString, Promise};
use quillgate::Millis;
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, ReadableStream, Request, Response, WebSocket};

use crate::http::response::HeaderFields;
use crate::runtime::error::HostResult;

#[wasm_bindgen(module = "/entry/host.js")]
extern "C" {
    fn respond(status: u16, headers: &str, body: &JsValue) -> Response;

    #[wasm_bindgen(js_name = readBody)]
    fn read_body_text(request: &Request, longest: usize) -> Promise;

    #[wasm_bindgen(js_name = openEventStream)]
    fn open_event_stream(
        socket: &WebSocket,
        signal: &AbortSignal,
        settings: &JsValue,
        on_charge: &JsValue,
    ) -> ReadableStream;

    #[wasm_bindgen(js_name = waitForMessage)]
    fn js_wait_for_message(
        socket: &WebSocket,
        signal: &AbortSignal,
        milliseconds: f64,
        on_message: &Closure<dyn FnMut(String) -> bool>,
    ) -> Promise;

    #[wasm_bindgen(js_name = headersOf)]
    fn header_lines(response: &Response) -> String;
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn log(line: &str);
    #[wasm_bindgen(js_namespace = console)]
    fn error(line: &str);
    #[wasm_bindgen(js_namespace = Math, js_name = random)]
    fn math_random() -> f64;

    /// The binding of js-sys takes a Rust string, which would copy a page twice.
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = parse)]
    fn json_parse(text: &JsString) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = stringify)]
    fn json_stringify(value: &JsValue) -> Result<JsString, JsValue>;
}

/// Parses JSON without copying it into the memory of the wasm module.
pub fn parse_json(text: &JsString) -> HostResult<JsValue> {
    Ok(json_parse(text)?)
}

/// Serializes a value as JSON.
pub fn stringify_json(value: &JsValue) -> HostResult<JsString> {
    Ok(json_stringify(value)?)
}

/// Writes a line to the log.
pub fn log_line(line: &str) {
    log(line);
}

/// Writes a line for operators to the log.
pub fn log_error(line: &str) {
    error(line);
}

/// Returns a random number between 0 and 1.
pub fn random() -> f64 {
    math_random()
}

/// Builds a response.
pub fn make_response(status: u16, headers: &HeaderFields, body: &JsValue) -> Response {
    respond(status, &headers.to_lines(), body)
}

/// Returns the header fields of a response that the gateway reads, as listed in `host.js`.
pub fn response_headers(response: &Response) -> HeaderFields {
    HeaderFields::from_lines(&header_lines(response))
}

/// Builds `Headers`.
///
/// # Errors
/// If a value is not valid in a header field.
pub fn make_headers(fields: &HeaderFields) -> Result<Headers, JsValue> {
    let headers = Headers::new()?;
    for (name, value) in fields.iter() {
        headers.set(name, value)?;
    }
    Ok(headers)
}

/// Reads the body of a request. Returns `None` if it has more than `longest` bytes.
///
/// # Errors
/// If the body breaks off or is not UTF-8.
pub async fn read_body(request: &Request, longest: usize) -> HostResult<Option<String>> {
    let text = JsFuture::from(read_body_text(request, longest)).await?;
    Ok(text.as_string())
}

/// The callback for each poll charged to a watcher. The stream ends if it fails.
pub type OnCharge = dyn Fn() -> Result<(), JsValue>;

/// The messages and times of an event stream. Times are in milliseconds.
#[derive(Serialize)]
pub struct StreamSettings<'a> {
    /// The first bytes of the stream.
    pub opening: &'a str,
    /// The comment that keeps the connection open.
    pub heartbeat: &'a str,
    /// The time between two heartbeats.
    pub period: u64,
    /// The maximum duration of the stream.
    pub lifetime: u64,
    /// The message that charges the watcher for a poll.
    pub charge: &'a str,
}

/// Returns the messages of a socket as an event stream. It ends when the socket closes, the client
/// disconnects, its lifetime expires or `on_charge` fails. It outlives a trap, but then ends with the
/// next charge.
///
/// # Errors
/// If `settings` cannot be passed to JavaScript.
pub fn event_stream(
    socket: &WebSocket,
    signal: &AbortSignal,
    settings: &StreamSettings<'_>,
    on_charge: Box<OnCharge>,
) -> HostResult<ReadableStream> {
    let settings = serde_wasm_bindgen::to_value(settings)?;
    let on_charge = Closure::wrap(on_charge).into_js_value();
    Ok(open_event_stream(socket, signal, &settings, &on_charge))
}

/// Passes the messages of a socket to `on_message`, then closes the socket. It stops when `on_message`
/// returns `true`, the socket closes, the client disconnects or the time is up.
#[expect(clippy::cast_precision_loss, reason = "seconds")]
pub async fn wait_for_message(
    socket: &WebSocket,
    signal: &AbortSignal,
    time: Millis,
    on_message: Closure<dyn FnMut(String) -> bool>,
) -> HostResult<()> {
    JsFuture::from(js_wait_for_message(
        socket,
        signal,
        time.0 as f64,
        &on_message,
    ))
    .await?;
    Ok(())
}
