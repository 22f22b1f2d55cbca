//! Deliberate traps, for tests of the recovery.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::runtime::task::into_promise;

pub fn trap_now() -> ! {
    panic!("a requested trap")
}

/// The promise never settles.
pub fn trap_later() -> Promise {
    into_promise(async {
        JsFuture::from(Promise::resolve(&JsValue::UNDEFINED)).await?;
        trap_now()
    })
}
