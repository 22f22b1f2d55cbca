//! Deliberate traps, for tests of the recovery.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::runtime::task::into_promise;

/// Traps within a call from JavaScript.
pub fn trap_now() -> ! {
    panic!("a requested trap")
}

/// Traps after an `await`. The returned promise never settles.
pub fn trap_later() -> Promise {
    into_promise(async {
        JsFuture::from(Promise::resolve(&JsValue::UNDEFINED)).await?;
        trap_now()
    })
}
