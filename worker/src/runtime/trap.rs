//! Deliberate traps for tests of trap recovery.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::runtime::task::into_promise;

/// Traps.
pub fn trap_now() -> ! {
    panic!("a trap that was asked for")
}

/// Traps in asynchronous code. The returned promise never settles.
pub fn trap_later() -> Promise {
    into_promise(async {
        JsFuture::from(Promise::resolve(&JsValue::UNDEFINED)).await?;
        trap_now()
    })
}
