use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::runtime::{HostResult, durable_objects};

#[wasm_bindgen]
extern "C" {
    type RawSession;

    #[wasm_bindgen(method)]
    fn open(this: &RawSession, record: &str, ends: f64) -> Promise;
    #[wasm_bindgen(method)]
    fn read(this: &RawSession) -> Promise;
    #[wasm_bindgen(method)]
    fn end(this: &RawSession) -> Promise;
}

pub struct SessionStub(RawSession);

impl SessionStub {
    pub fn new(env: &Env, name: &str) -> HostResult<Self> {
        let namespace = durable_objects(env, "SESSION")?;
        Ok(Self(namespace.get_by_name(name)?.into_rpc()))
    }

    /// Returns `false` if the session already has a record.
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
