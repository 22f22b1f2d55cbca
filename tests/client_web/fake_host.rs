//! The fake server and clock of `fake_host.js`.

use js_sys::{Function, JSON, Promise};
use quillgate::client::{AbortSignal, ApiCall, Client, ClientBuilder, FetchHost};
use quillgate::{CreateAgentJob, GetAgentJob};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/tests/client_web/fake_host.js")]
extern "C" {
    type HostState;

    #[wasm_bindgen(constructor)]
    fn begin() -> HostState;

    #[wasm_bindgen(method)]
    fn end(this: &HostState);

    #[wasm_bindgen(method)]
    fn elapsed(this: &HostState) -> u32;

    #[wasm_bindgen(method, js_name = leakCount)]
    fn leak_count(this: &HostState) -> u32;

    #[wasm_bindgen(method)]
    fn sleep(this: &HostState, ms: u32) -> Promise;

    #[wasm_bindgen(method)]
    fn signal(this: &HostState, ms: Option<u32>, reason: &JsValue) -> AbortSignal;

    #[wasm_bindgen(method, js_name = enqueueResponse)]
    fn enqueue_response(this: &HostState, json: &str);

    #[wasm_bindgen(method)]
    fn requests(this: &HostState) -> JsValue;

    #[wasm_bindgen(method, js_name = pendingCount)]
    fn pending_count(this: &HostState) -> u32;

    #[wasm_bindgen(method, js_name = replaceGlobalFetch)]
    fn replace_global_fetch(this: &HostState);

    #[wasm_bindgen(method, getter)]
    fn fetch(this: &HostState) -> Function;

    #[wasm_bindgen(js_name = sortedJson)]
    pub fn sorted_json(value: &JsValue) -> String;
}

pub const TOKEN: &str = "eyJ0b2tlbg.secret-part";

pub struct FakeHost(HostState);

impl FakeHost {
    pub fn new<T: AsRef<str>>(responses: impl IntoIterator<Item = T>) -> Self {
        let state = HostState::begin();
        for response in responses {
            state.enqueue_response(response.as_ref());
        }
        Self(state)
    }

    /// A builder of a client of a gateway.
    pub fn builder(&self) -> ClientBuilder {
        let builder = Client::builder().gateway("https://gate.example", TOKEN);
        let host = FetchHost::with_fetch(self.0.fetch());
        builder.project("acme").host(host)
    }

    pub fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    pub fn fetch(&self) -> Function {
        self.0.fetch()
    }

    pub fn replace_global_fetch(&self) {
        self.0.replace_global_fetch();
    }

    /// A signal that aborts with `reason` after `ms`, or never.
    pub fn signal(&self, ms: Option<u32>, reason: &JsValue) -> AbortSignal {
        self.0.signal(ms, reason)
    }

    /// Waits until the clock has advanced by `ms`.
    pub async fn sleep(&self, ms: u32) {
        JsFuture::from(self.0.sleep(ms)).await.unwrap();
    }

    /// The method, URL, headers, redirect mode, body and time of every request so far.
    pub fn requests(&self) -> JsValue {
        self.0.requests()
    }

    pub fn count(&self) -> u32 {
        js_sys::Array::from(&self.0.requests()).length()
    }

    pub fn elapsed(&self) -> u32 {
        self.0.elapsed()
    }

    /// Panics if a request is pending, or a timer or an abort listener is left.
    pub fn assert_idle(&self) {
        assert_eq!(self.0.pending_count(), 0, "requests are pending");
        assert_eq!(self.0.leak_count(), 0, "timers or abort listeners are left");
    }
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        self.0.end();
    }
}

pub fn get_job(client: &Client) -> ApiCall<GetAgentJob> {
    client.agent_jobs().get("j1")
}

pub fn create(client: &Client) -> ApiCall<CreateAgentJob> {
    client.agent_jobs().create("p")
}

pub fn json(text: &str) -> JsValue {
    JSON::parse(text).expect("a test's JSON is well-formed")
}

#[track_caller]
pub fn assert_json(value: &JsValue, expected: &str) {
    assert_eq!(sorted_json(value), sorted_json(&json(expected)));
}
