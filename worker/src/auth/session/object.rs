//! The Durable Object of a session. The object stores the session's record until the session ends.
//!
//! The object does not store the cookie's value. The object's name is a hash of that value. A
//! sign-in also uses an object of this class: an empty record marks the sign-in as used.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// `DurableObjectState`. This type is declared here, because the `worker` crate does not wrap
    /// the storage's key-value methods.
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

    /// The synchronous key-value storage. The first `put` creates the table, so an object that is
    /// only read stores nothing.
    type KeyValueStorage;

    #[wasm_bindgen(method)]
    fn get(this: &KeyValueStorage, key: &str) -> JsValue;
    #[wasm_bindgen(method)]
    fn put(this: &KeyValueStorage, key: &str, value: &str);
}

const RECORD: &str = "record";

/// The Durable Object class. `worker/entry/index.js` exports it.
#[wasm_bindgen]
pub struct Session {
    storage: SessionStorage,
}

#[wasm_bindgen]
impl Session {
    #[wasm_bindgen(constructor)]
    pub fn new(state: &SessionState) -> Self {
        Self {
            storage: state.storage(),
        }
    }

    /// Stores a record until `ends`, a Unix time in milliseconds. Returns `false` and stores
    /// nothing if the object already has a record.
    pub fn open(&self, record: &str, ends: f64) -> bool {
        let kept = self.storage.kv();
        let is_free = kept.get(RECORD).is_undefined();
        if is_free {
            // The alarm is set first, so that no record is ever stored without an expiry. The
            // runtime sends the response only after it has stored the alarm and the record.
            let _is_safe = self.storage.set_alarm(ends);
            kept.put(RECORD, record);
        }
        is_free
    }

    /// Returns the record, or `undefined` if the session has ended.
    pub fn read(&self) -> JsValue {
        self.storage.kv().get(RECORD)
    }

    /// Ends the session and deletes its storage.
    pub fn end(&self) -> Promise {
        self.storage.delete_all()
    }

    /// Ends the expired session. The runtime calls this method when the alarm fires.
    pub fn alarm(&self) -> Promise {
        self.end()
    }
}
