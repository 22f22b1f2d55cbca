//! Waits that a timer ends at the latest.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use js_sys::{Function, Promise};
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

/// A timer of more than 2^31 milliseconds would end at once.
const LONGEST: Millis = Millis::from_seconds(86_400);

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// A wait until somebody says that it is over, or until its time is up: a day at most. As long as it goes
/// on, the runtime does not take the request for hung.
pub struct Wait {
    promise: JsFuture,
    timer: JsValue,
}

impl Wait {
    /// Begins a wait; `keep` takes what ends it.
    #[expect(clippy::cast_precision_loss, reason = "a day at most")]
    pub fn begin(time: Millis, keep: impl FnOnce(Wake)) -> Self {
        let mut timer = JsValue::UNDEFINED;
        let mut wake = None;
        let promise = Promise::new(&mut |resolve, _| {
            timer = set_timeout(&resolve, time.min(LONGEST).0 as f64);
            wake = Some(Wake(resolve));
        });
        if let Some(wake) = wake {
            keep(wake);
        }
        Self {
            promise: promise.into(),
            timer,
        }
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Nothing rejects it.
        Pin::new(&mut self.promise).poll(context).map(drop)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        clear_timeout(&self.timer);
    }
}

/// What ends a [`Wait`]; one that has ended takes no notice of it.
pub struct Wake(Function);

impl Wake {
    /// Ends the wait.
    pub fn wake(&self) {
        // It cannot throw: it resolves a promise.
        drop(self.0.call0(&JsValue::UNDEFINED));
    }
}

/// Lets the runtime do what it has put off until nothing else runs, such as sending a request.
pub async fn yield_now() {
    Wait::begin(Millis(0), drop).await;
}

/// Waits for work for at most this long; `None` when its time is up. The work is dropped then.
pub async fn limit_time<T>(time: Millis, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut timer = Wait::begin(time, drop);
    let first = poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => Pin::new(&mut timer).poll(context).map(|()| None),
    });
    first.await
}
