//! Deliberate traps. Tests use these traps to check how the gateway recovers.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::runtime::task::into_promise;

/// Makes the module trap synchronously, within a call from JavaScript.
pub fn trap_now() -> ! {
    panic!("a requested trap")
}

/// Makes the module trap in a future, after an `await`. The returned promise never settles.
pub fn trap_later() -> Promise {
    into_promise(async {
        JsFuture::from(Promise::resolve(&JsValue::UNDEFINED)).await?;
        trap_now()
    })
}
