//! What the `worker` crate and web-sys have no wrapper for: `worker/entry/host.js`, one call for
//! each act of I/O, and a few globals.

use js_sys::{JsString, Promise};
use quillgate::Millis;
use serde::Serialize;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, ReadableStream, Request, Response, WebSocket};

use crate::app::export::ExportBody;
use crate::app::isolate::guard;
use crate::http::response::HeaderFields;
use crate::runtime::error::HostResult;
use crate::upstream::{ReplyHead, TransportError};

#[wasm_bindgen(module = "/entry/host.js")]
extern "C" {
    fn respond(status: u16, headers: &str, body: &JsValue) -> Response;

    #[wasm_bindgen(js_name = send)]
    fn send_request(
        method: &str,
        url: &str,
        headers: &Headers,
        body: &JsValue,
        milliseconds: f64,
        longest: u32,
    ) -> Promise;

    #[wasm_bindgen(js_name = readBody)]
    fn read_body_text(request: &Request, longest: usize) -> Promise;

    #[wasm_bindgen(js_name = openEventStream)]
    fn open_event_stream(
        socket: &WebSocket,
        signal: &AbortSignal,
        settings: &JsValue,
        on_charge: &JsValue,
    ) -> ReadableStream;

    #[wasm_bindgen(js_name = openByteStream)]
    fn open_byte_stream(
        source: ExportBody,
        signal: &AbortSignal,
        guard: &JsValue,
    ) -> ReadableStream;

    #[wasm_bindgen(js_name = hear)]
    fn hear_messages(
        socket: &WebSocket,
        signal: &AbortSignal,
        milliseconds: f64,
        on_message: &Closure<dyn FnMut(String) -> bool>,
    ) -> Promise;

    #[wasm_bindgen(js_name = headersOf)]
    fn header_lines(response: &Response) -> String;

    /// An answer to a request that was sent.
    pub type Reply;

    #[wasm_bindgen(method, getter)]
    fn status(this: &Reply) -> u16;

    #[wasm_bindgen(method, getter)]
    fn headers(this: &Reply) -> String;

    #[wasm_bindgen(method, getter)]
    fn text(this: &Reply) -> Option<JsString>;

    #[wasm_bindgen(method, js_name = readError)]
    fn read_error_text(this: &Reply, longest: u32) -> Promise;

    #[wasm_bindgen(method)]
    fn cancel(this: &Reply);
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn log(line: &str);
    #[wasm_bindgen(js_namespace = console)]
    fn error(line: &str);
    #[wasm_bindgen(js_namespace = Math, js_name = random)]
    fn math_random() -> f64;

    /// js-sys takes a Rust string, so that a page's text would be copied twice.
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = parse)]
    fn json_parse(text: &JsString) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = stringify)]
    fn json_stringify(value: &JsValue) -> Result<JsString, JsValue>;
}

/// Parses JSON, whose text stays outside of the wasm's memory.
pub fn parse_json(text: &JsString) -> HostResult<JsValue> {
    Ok(json_parse(text)?)
}

/// Writes JSON.
pub fn stringify_json(value: &JsValue) -> HostResult<JsString> {
    Ok(json_stringify(value)?)
}

/// Writes a line to the log.
pub fn log_line(line: &str) {
    log(line);
}

/// Writes a line to the log that an operator should see.
pub fn log_error(line: &str) {
    error(line);
}

/// A random number from 0 to 1.
pub fn random() -> f64 {
    math_random()
}

/// Makes a response.
pub fn make_response(status: u16, headers: &HeaderFields, body: &JsValue) -> Response {
    respond(status, &headers.to_lines(), body)
}

/// The header fields of a response that count: see `host.js`.
pub fn response_headers(response: &Response) -> HeaderFields {
    HeaderFields::from_lines(&header_lines(response))
}

/// A request to somebody else.
pub struct Outgoing<'a> {
    /// The method.
    pub method: &'a str,
    /// The absolute URL.
    pub url: &'a str,
    /// The header fields.
    pub headers: HeaderFields,
    /// The body.
    pub body: Option<&'a str>,
    /// How long head and body of the answer may take.
    pub time: Millis,
    /// The most bytes of a success's body that are read.
    pub longest: u32,
}

/// An answer whose head has come. Of a 2xx the body has been read as well; what becomes of
/// another's body is the caller's: [`Message::read_error`] or [`Message::discard`].
pub struct Message {
    reply: Reply,
    /// The head, as far as it matters: see `host.js`.
    pub head: ReplyHead,
}

impl Message {
    /// The text of a 2xx; `None` when it is too long, broke off or did not come in time.
    pub fn text(&self) -> Option<JsString> {
        self.reply.text()
    }

    /// The text of an answer that is not 2xx; empty when it is too long or broke off.
    pub async fn read_error(self, longest: u32) -> String {
        let text = JsFuture::from(self.reply.read_error_text(longest)).await;
        let text = text.ok().and_then(|text| text.as_string());
        text.unwrap_or_else(String::new)
    }

    /// Lets the body go unread.
    pub fn discard(self) {
        self.reply.cancel();
    }
}

/// Sends a request and waits for the head of its answer, and for the body of a 2xx. A redirect is
/// never followed, and nothing in between keeps the answer.
///
/// # Errors
/// That no answer came.
#[expect(clippy::cast_precision_loss, reason = "minutes at most")]
pub async fn send(request: Outgoing<'_>) -> Result<Message, TransportError> {
    let headers = make_headers(&request.headers).map_err(|error| transport_error(&error))?;
    let body = request.body.map_or(JsValue::UNDEFINED, JsValue::from_str);
    let reply = send_request(
        request.method,
        request.url,
        &headers,
        &body,
        request.time.0 as f64,
        request.longest,
    );
    let reply = JsFuture::from(reply).await;
    let reply: Reply = reply
        .map_err(|error| transport_error(&error))?
        .unchecked_into();
    Ok(Message {
        head: ReplyHead::read(reply.status(), &reply.headers()),
        reply,
    })
}

pub(super) fn make_headers(fields: &HeaderFields) -> Result<Headers, JsValue> {
    let headers = Headers::new()?;
    for (name, value) in fields.iter() {
        headers.set(name, value)?;
    }
    Ok(headers)
}

fn transport_error(error: &JsValue) -> TransportError {
    let name = error
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.name()));
    match name.as_deref() {
        Some("TimeoutError") => TransportError::TimedOut,
        _ => TransportError::Broken,
    }
}

/// Reads a request's body as UTF-8; `None` for one of more than `longest` bytes.
///
/// # Errors
/// A body that broke off, or is not UTF-8.
pub async fn read_body(request: &Request, longest: usize) -> HostResult<Option<String>> {
    let text = JsFuture::from(read_body_text(request, longest)).await?;
    Ok(text.as_string())
}

/// A function that is called for each poll charged to a watcher. The stream ends when it fails.
pub type OnCharge = dyn Fn() -> Result<(), JsValue>;

/// The texts and times of an event stream. Times are in milliseconds.
#[derive(Serialize)]
pub struct StreamSettings<'a> {
    /// The text that starts the stream.
    pub opening: &'a str,
    /// The text that keeps the stream open.
    pub heartbeat: &'a str,
    /// The time between two heartbeats.
    pub period: u64,
    /// The maximum duration of the stream.
    pub lifetime: u64,
    /// The message that charges the watcher for a poll.
    pub charge: &'a str,
}

/// Returns the messages of a socket as an event stream. It ends when the socket closes, the client
/// leaves, its lifetime is over or `on_charge` fails. It outlives a trap, but then ends with the next
/// charge.
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

/// The chunks of an export as a stream, each made when it is asked for, until the client leaves.
pub fn byte_stream(source: ExportBody, signal: &AbortSignal) -> ReadableStream {
    open_byte_stream(source, signal, &guard().into())
}

/// Hands the messages of a socket to `on_message` until that says that it has heard enough, the
/// socket closes, the client leaves or the time is over; then closes the socket.
#[expect(clippy::cast_precision_loss, reason = "seconds")]
pub async fn hear(
    socket: &WebSocket,
    signal: &AbortSignal,
    time: Millis,
    on_message: Closure<dyn FnMut(String) -> bool>,
) -> HostResult<()> {
    JsFuture::from(hear_messages(socket, signal, time.0 as f64, &on_message)).await?;
    Ok(())
}
