//! What the host does: clock, randomness, waits, requests, the decoders.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use web_sys::{AbortSignal, Request, Response};

use crate::millis::Millis;

#[wasm_bindgen(module = "/src/wasm/host.js")]
extern "C" {
    #[wasm_bindgen(js_name = sleep)]
    pub fn sleep(ms: f64, signal: Option<&AbortSignal>) -> Promise;

    /// One request and its answer's body, within a time and until a signal aborts.
    pub type Exchange;

    #[wasm_bindgen(constructor)]
    pub fn new(ms: f64, outer: Option<&AbortSignal>) -> Exchange;

    /// The request; `None` when the host refuses its address.
    #[wasm_bindgen(method)]
    pub fn request(
        this: &Exchange,
        method: &str,
        url: &str,
        headers: &web_sys::Headers,
        body: Option<&str>,
    ) -> Option<Request>;

    /// Lets go of an exchange that is not sent after all.
    #[wasm_bindgen(method)]
    pub fn end(this: &Exchange);

    /// An [`Answered`], or an [`Unanswered`] as the reason of the rejection.
    #[wasm_bindgen(method)]
    pub fn send(
        this: &Exchange,
        request: &Request,
        own_fetch: Option<&Function>,
        observer: Option<&Function>,
    ) -> Promise;

    /// An answer, whatever its status.
    pub type Answered;

    #[wasm_bindgen(method, getter)]
    pub fn response(this: &Answered) -> Response;

    #[wasm_bindgen(method, getter)]
    pub fn body(this: &Answered) -> JsValue;

    #[wasm_bindgen(method, getter)]
    pub fn malformed(this: &Answered) -> bool;

    /// No answer, or not all of one.
    pub type Unanswered;

    #[wasm_bindgen(method, getter)]
    pub fn cause(this: &Unanswered) -> JsValue;

    #[wasm_bindgen(method, getter)]
    pub fn expired(this: &Unanswered) -> bool;
}

#[wasm_bindgen(module = "/src/wasm/decode.js")]
extern "C" {
    /// Checks a parsed body against a result type; throws where it does not fit.
    #[wasm_bindgen(catch)]
    pub fn decode(type_name: &str, value: &JsValue) -> Result<JsValue, Refusal>;

    /// Where a body does not fit, and how.
    pub type Refusal;

    #[wasm_bindgen(method, getter, js_name = "where")]
    pub fn at(this: &Refusal) -> String;

    #[wasm_bindgen(method, getter)]
    pub fn what(this: &Refusal) -> String;
}

/// The host's clock.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is a positive integer below 2^53"
)]
pub fn now() -> Millis {
    Millis(js_sys::Date::now() as u64)
}

/// A random number from 0 to 1, for jitter only.
pub fn random() -> f64 {
    js_sys::Math::random()
}

/// A length of time as the host takes it.
pub fn milliseconds(length: Millis) -> f64 {
    number(length.0)
}

/// An integer as the host has it.
#[expect(
    clippy::cast_precision_loss,
    reason = "integers here are at most 2^53 - 1"
)]
pub fn number(integer: u64) -> f64 {
    integer as f64
}
