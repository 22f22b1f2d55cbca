//! The Durable Object of a session. For a sign-in, an empty record marks the sign-in as used.

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::runtime::{HostResult, durable_objects};

#[wasm_bindgen]
extern "C" {
    /// `DurableObjectState`: the `worker` crate does not wrap the storage's key-value methods.
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

    type RawSession;

    #[wasm_bindgen(method)]
    fn open(this: &RawSession, record: &str, ends: f64) -> Promise;
    #[wasm_bindgen(method)]
    fn read(this: &RawSession) -> Promise;
    #[wasm_bindgen(method)]
    fn end(this: &RawSession) -> Promise;
}

const RECORD: &str = "record";

/// `worker/entry/index.js` exports this class.
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

    /// Returns `false` if the object already has a record. `ends` is in milliseconds.
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

    pub fn read(&self) -> JsValue {
        self.storage.kv().get(RECORD)
    }

    pub fn end(&self) -> Promise {
        self.storage.delete_all()
    }

    pub fn alarm(&self) -> Promise {
        self.end()
    }
}

pub struct SessionStub(RawSession);

impl SessionStub {
    pub fn new(env: &Env, name: &str) -> HostResult<Self> {
        let namespace = durable_objects(env, "SESSION")?;
        Ok(Self(namespace.get_by_name(name)?.into_rpc()))
    }

    /// See [`Session::open`].
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub async fn open(&self, record: &str, ends: Millis) -> HostResult<bool> {
        let opened = JsFuture::from(self.0.open(record, ends.0 as f64)).await?;
        Ok(opened.is_truthy())
    }

    /// `None` if the session has ended.
    pub async fn read(&self) -> HostResult<Option<String>> {
        Ok(JsFuture::from(self.0.read()).await?.as_string())
    }

    pub async fn end(&self) -> HostResult<()> {
        JsFuture::from(self.0.end()).await?;
        Ok(())
    }
}
