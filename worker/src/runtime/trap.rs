//! Traps on purpose, in the build for tests of traps.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::runtime::task::into_promise;

pub fn trap_now() -> ! {
    panic!("a trap that was asked for")
}

/// Traps in asynchronous code: nothing will ever settle this promise.
pub fn trap_later() -> Promise {
    into_promise(async {
        JsFuture::from(Promise::resolve(&JsValue::UNDEFINED)).await?;
        trap_now()
    })
}
