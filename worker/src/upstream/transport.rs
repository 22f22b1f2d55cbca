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
        longest: u32,
    ) -> Promise;

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
    pub head: UpstreamHead,
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
