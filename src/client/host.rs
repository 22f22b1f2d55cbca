//! What the host does: clock, randomness, timers, aborts and `fetch`.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal, Request, Response};

use crate::client::error::HostError;
use crate::credential::IdempotencyKey;
use crate::millis::Millis;

#[wasm_bindgen]
extern "C" {
    // gloo-net's `send` panics on a rejection that is no `Error`, and keeps of an error its text
    // alone, while a caller may need its `cause`.
    #[wasm_bindgen(catch, js_name = fetch)]
    fn host_fetch(request: &Request) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn fill_with_random(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
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

/// A key of 128 random bits; `None` where the host has no source of them.
pub fn make_key() -> Option<IdempotencyKey> {
    let mut bytes = [0; 16];
    fill_with_random(&mut bytes).ok()?;
    Some(IdempotencyKey::from_bytes(bytes))
}

/// The longest time that a timer takes: a longer one would end at once.
const MAX_TIMER: u32 = i32::MAX.unsigned_abs();

/// Waits. Dropping the future clears its timer.
pub async fn sleep(length: Millis) {
    let length = u32::try_from(length.0).unwrap_or(MAX_TIMER);
    TimeoutFuture::new(length.min(MAX_TIMER)).await;
}

/// Sends a request, with another function than the host's `fetch` where there is one.
pub async fn fetch(request: &Request, own: Option<&Function>) -> Result<Response, HostError> {
    let sent = match own {
        Some(own) => own.call1(&JsValue::UNDEFINED, request),
        None => host_fetch(request),
    };
    let promise = Promise::resolve(&sent.map_err(HostError::new)?);
    let response = JsFuture::from(promise).await.map_err(HostError::new)?;
    let no_response = || js_sys::TypeError::new("fetch gave no Response").into();
    response
        .dyn_into()
        .map_err(|_| HostError::new(no_response()))
}

/// Aborts what it is handed to when it is dropped, which a finished request does not notice.
pub struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    /// A guard; every host with `fetch` has `AbortController`.
    pub fn new() -> Self {
        Self(AbortController::new().ok())
    }

    pub fn signal(&self) -> Option<AbortSignal> {
        self.0.as_ref().map(AbortController::signal)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}

/// Ends with a signal's reason when it aborts; never when there is no signal.
pub fn wait_for_abort(signal: Option<&AbortSignal>) -> impl Future<Output = HostError> {
    let mut listener = signal.cloned().map(AbortListener::new);
    poll_fn(move |context| match &mut listener {
        Some(listener) => listener.poll(context.waker()),
        None => Poll::Pending,
    })
}

const ABORT: &str = "abort";

/// Listens to a signal until it is dropped.
struct AbortListener {
    signal: AbortSignal,
    waker: Rc<RefCell<Option<Waker>>>,
    callback: Option<Closure<dyn FnMut()>>,
}

impl AbortListener {
    fn new(signal: AbortSignal) -> Self {
        Self {
            signal,
            waker: Rc::default(),
            callback: None,
        }
    }

    fn poll(&mut self, waker: &Waker) -> Poll<HostError> {
        if self.signal.aborted() {
            return Poll::Ready(HostError::new(self.signal.reason()));
        }
        self.waker.replace(Some(waker.clone()));
        if self.callback.is_none() {
            let waker = Rc::clone(&self.waker);
            let callback = Closure::new(move || {
                if let Some(waker) = waker.take() {
                    waker.wake();
                }
            });
            let function = callback.as_ref().unchecked_ref();
            // Of a signal nothing is refused: it is an event target.
            let _ = self
                .signal
                .add_event_listener_with_callback(ABORT, function);
            self.callback = Some(callback);
        }
        Poll::Pending
    }
}

impl Drop for AbortListener {
    fn drop(&mut self) {
        if let Some(callback) = &self.callback {
            let function = callback.as_ref().unchecked_ref();
            let _ = self
                .signal
                .remove_event_listener_with_callback(ABORT, function);
        }
    }
}
