//! Waiting for an `AbortSignal`. The client ends a call when its signal aborts.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use crate::client::error::HostError;

/// Waits until a signal aborts, and returns its reason. Without a signal, waits forever.
pub fn wait_for_abort(signal: Option<&AbortSignal>) -> impl Future<Output = HostError> {
    let mut listener = signal.cloned().map(AbortListener::new);
    poll_fn(move |context| match &mut listener {
        Some(listener) => listener.poll(context.waker()),
        None => Poll::Pending,
    })
}

const ABORT: &str = "abort";

/// Listens to a signal. Dropping it removes the event listener.
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
            // `addEventListener` does not throw for a function.
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
