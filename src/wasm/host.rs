//! What the host does: clock, randomness, waits, aborts, `fetch`, the decoders.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use crate::date::Millis;

#[wasm_bindgen(module = "/src/wasm/host.js")]
extern "C" {
    #[wasm_bindgen(js_name = sleep)]
    pub fn sleep(ms: f64, signal: Option<&AbortSignal>) -> Promise;

    /// A signal that aborts with another, or by itself after a time.
    pub type Limit;

    #[wasm_bindgen(constructor)]
    pub fn new(ms: f64, signal: Option<&AbortSignal>) -> Limit;

    #[wasm_bindgen(method, getter)]
    pub fn signal(this: &Limit) -> AbortSignal;

    #[wasm_bindgen(method, getter)]
    pub fn expired(this: &Limit) -> bool;

    #[wasm_bindgen(method)]
    pub fn race(this: &Limit, promise: &Promise) -> Promise;

    #[wasm_bindgen(method)]
    pub fn end(this: &Limit);
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

#[wasm_bindgen]
extern "C" {
    // The host's own `fetch`, called here and not through gloo-net's `Request::send`,
    // which keeps an error's text and drops the error: a caller needs its `cause`.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn host_fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

/// Sends a request by the caller's own `fetch`, or by the host's.
pub fn fetch(own: Option<&Function>, request: &web_sys::Request) -> Result<Promise, JsValue> {
    match own {
        Some(own) => own
            .call1(&JsValue::UNDEFINED, request)
            .map(|result| Promise::resolve(&result)),
        None => host_fetch(request),
    }
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
#[expect(
    clippy::cast_precision_loss,
    reason = "no length of time comes near 2^53 ms"
)]
pub fn milliseconds(length: Millis) -> f64 {
    length.0 as f64
}
