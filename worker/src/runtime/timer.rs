use std::pin::pin;

use futures_util::future::{Either, select};
use js_sys::{Function, Promise};
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

use crate::runtime::context::to_number;

/// A day, longer than any wait of the gateway. Node.js and browsers, which run unit tests, do not
/// wait at all above 2^31 − 1 ms.
const MAX_DELAY: Millis = Millis::from_seconds(86_400);

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;
    #[wasm_bindgen(catch, js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;
}

#[must_use = "a dropped timer stops"]
pub struct Timer(JsValue);

impl Timer {
    pub fn begin(time: Millis, callback: &Function) -> Self {
        Self(set_timeout(callback, to_number(time.min(MAX_DELAY).0)))
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // A finalizer runs outside of a request, where this call throws. The request has then ended,
        // and its timers with it.
        let _ = clear_timeout(&self.0);
    }
}

/// Waits until [`Wake::wake`] or the time is up. Passes the [`Wake`] to `keep`. The timer prevents
/// the runtime from cancelling the request as hung.
pub async fn wait(time: Millis, keep: impl FnOnce(Wake)) {
    let mut begun = None;
    let promise = Promise::new(&mut |resolve, _| {
        begun = Some((Timer::begin(time, &resolve), Wake(resolve)));
    });
    if let Some((_timer, wake)) = begun {
        keep(wake);
        // The promise never rejects.
        let _ = JsFuture::from(promise).await;
    }
}

/// Ends a [`wait`], even from another request.
pub struct Wake(Function);

impl Wake {
    pub fn wake(&self) {
        // Resolving a promise cannot throw.
        drop(self.0.call0(&JsValue::UNDEFINED));
    }
}

/// Yields to the event loop, so that the runtime can, for example, send a started request.
pub async fn yield_now() {
    wait(Millis(0), drop).await;
}

pub async fn sleep(time: Millis) {
    wait(time, drop).await;
}

/// When the time is up, drops the future and returns `None`.
pub async fn limit_time<T>(time: Millis, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), pin!(wait(time, drop))).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}
