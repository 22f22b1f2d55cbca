//! Sends a request and reads the response: `send` in `worker/entry/host.js`.

use js_sys::{JsString, Promise};
use quillgate::Millis;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Headers;

use crate::http::response::HeaderFields;
use crate::runtime::make_headers;
use crate::upstream::head::UpstreamHead;
use crate::upstream::transport_error::TransportError;

#[wasm_bindgen(module = "/entry/host.js")]
extern "C" {
    #[wasm_bindgen(js_name = send)]
    fn send_request(
        method: &str,
        url: &str,
        headers: &Headers,
        body: &JsValue,
        milliseconds: f64,
        max_bytes: u32,
    ) -> Promise;

    /// A response from the host.
    pub type Reply;

    #[wasm_bindgen(method, getter)]
    fn status(this: &Reply) -> u16;

    #[wasm_bindgen(method, getter)]
    fn headers(this: &Reply) -> String;

    #[wasm_bindgen(method, getter)]
    fn text(this: &Reply) -> Option<JsString>;

    #[wasm_bindgen(method, js_name = readError)]
    fn read_error_text(this: &Reply, max_bytes: u32) -> Promise;

    #[wasm_bindgen(method)]
    fn cancel(this: &Reply);
}

/// An outgoing request.
pub struct Outgoing<'a> {
    /// The method.
    pub method: &'a str,
    /// The absolute URL.
    pub url: &'a str,
    /// The header fields.
    pub headers: HeaderFields,
    /// The body.
    pub body: Option<&'a str>,
    /// Timeout of the response's head and body.
    pub time: Millis,
    /// Maximum size of a 2xx body, in bytes.
    pub longest: u32,
}

/// A response. The body of a 2xx has been read. For other statuses, callers must call
/// [`Message::read_error`] or [`Message::discard`].
pub struct Message {
    reply: Reply,
    /// The relevant part of the head: see `host.js`.
    pub head: UpstreamHead,
}

impl Message {
    /// Returns the body of a 2xx. Returns `None` if it was too long, incomplete or late.
    pub fn text(&self) -> Option<JsString> {
        self.reply.text()
    }

    /// Returns the body of an error response. Returns an empty string if it is too long or incomplete.
    pub async fn read_error(self, max_bytes: u32) -> String {
        let text = JsFuture::from(self.reply.read_error_text(max_bytes)).await;
        let text = text.ok().and_then(|text| text.as_string());
        text.unwrap_or_else(String::new)
    }

    /// Cancels the body.
    pub fn discard(self) {
        self.reply.cancel();
    }
}

/// Sends a request and waits for the response's head, and for the body of a 2xx. Redirects are never
/// followed, and responses are never cached.
///
/// # Errors
/// No response arrived.
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
        head: UpstreamHead::read(reply.status(), &reply.headers()),
        reply,
    })
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
