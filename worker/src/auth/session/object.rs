//! The object of a session: what is kept of it until it ends.
//!
//! The cookie's value is not among it: the object's name is its hash.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// `DurableObjectState` and `DurableObjectStorage`, for what the `worker` crate does not wrap.
    pub type SessionState;

    #[wasm_bindgen(method, getter)]
    fn storage(this: &SessionState) -> SessionStorage;

    type SessionStorage;

    #[wasm_bindgen(method, getter)]
    fn kv(this: &SessionStorage) -> KeyValueStorage;
    #[wasm_bindgen(method, js_name = setAlarm)]
    fn set_alarm(this: &SessionStorage, milliseconds: f64) -> Promise;
    #[wasm_bindgen(method, js_name = deleteAll)]
    fn delete_all(this: &SessionStorage) -> Promise;

    /// Storage by key that answers at once. What is put there first makes its table: an object that is
    /// only asked stores nothing.
    type KeyValueStorage;

    #[wasm_bindgen(method)]
    fn get(this: &KeyValueStorage, key: &str) -> JsValue;
    #[wasm_bindgen(method)]
    fn put(this: &KeyValueStorage, key: &str, value: &str);
}

const RECORD: &str = "record";

/// The object as the runtime has it.
#[wasm_bindgen]
pub struct Session {
    storage: SessionStorage,
}

#[wasm_bindgen]
impl Session {
    /// The object of this state.
    #[wasm_bindgen(constructor)]
    pub fn new(state: &SessionState) -> Self {
        Self {
            storage: state.storage(),
        }
    }

    /// Keeps a record until an instant, in milliseconds since 1970; `false` when there is one already.
    pub fn open(&self, record: &str, ends: f64) -> bool {
        let kept = self.storage.kv();
        let is_free = kept.get(RECORD).is_undefined();
        if is_free {
            // First the alarm: should it be refused, nothing is kept without an end. What answers this call
            // waits for both to be safe.
            let _is_safe = self.storage.set_alarm(ends);
            kept.put(RECORD, record);
        }
        is_free
    }

    /// The record, unless the session has ended.
    pub fn read(&self) -> JsValue {
        self.storage.kv().get(RECORD)
    }

    /// Ends the session: nothing is left of it.
    pub fn end(&self) -> Promise {
        self.storage.delete_all()
    }

    /// Ends it when its time is over.
    pub fn alarm(&self) -> Promise {
        self.end()
    }
}
