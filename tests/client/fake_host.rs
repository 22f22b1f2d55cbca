//! The fake server and clock of `fake_host.js`.

use js_sys::{Function, JSON, Promise, Reflect};
use quillgate::client::{AbortSignal, ApiCall, Client, Server};
use quillgate::credential::{AccessToken, AdminKey, BaseUrl};
use quillgate::{CallOptions, CreateAgentJob, GetAgentJob, JobId, ProjectId, Prompt};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/tests/client/fake_host.js")]
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

    /// Serializes a value to JSON with sorted properties.
    #[wasm_bindgen(js_name = sortedJson)]
    pub fn sorted_json(value: &JsValue) -> String;
}

pub const TOKEN: &str = "eyJ0b2tlbg.secret-part";
pub const KEY: &str = "mint_secret_of_the_organisation";

/// Options without retries, so that the first response is the result.
pub const ONCE: CallOptions = CallOptions {
    timeout: quillgate::options::DEFAULT_TIMEOUT,
    total_timeout: None,
    max_retries: 0,
    is_deduplicated: false,
};

/// A fake server and clock.
pub struct FakeHost(HostState);

impl FakeHost {
    /// Creates a host that answers requests with these responses, in order.
    pub fn new<T: AsRef<str>>(responses: impl IntoIterator<Item = T>) -> Self {
        let state = HostState::begin();
        for response in responses {
            state.enqueue_response(response.as_ref());
        }
        Self(state)
    }

    /// A client of a gateway.
    pub fn client(&self) -> Client {
        self.client_of(gateway())
    }

    /// A client of the platform.
    pub fn platform(&self) -> Client {
        self.client_of(Server::platform(AdminKey::new(KEY).unwrap()))
    }

    /// A client of this server, with the host's `fetch`.
    pub fn client_of(&self, server: Server) -> Client {
        Client::new(server, acme()).with_fetch(self.0.fetch())
    }

    /// The host's `fetch`.
    pub fn fetch(&self) -> Function {
        self.0.fetch()
    }

    /// Replaces the global `fetch` with the host's.
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

    /// The method, address, body and time of every request so far.
    pub fn requests(&self) -> JsValue {
        self.0.requests()
    }

    /// The number of requests.
    pub fn count(&self) -> u32 {
        js_sys::Array::from(&self.0.requests()).length()
    }

    /// A property of the request at index `at`, as JSON.
    pub fn request(&self, at: u32, name: &str) -> String {
        sorted_json(&property(
            &js_sys::Array::from(&self.0.requests()).get(at),
            name,
        ))
    }

    /// The URL of the request at index `at`, relative to the gateway.
    pub fn target(&self, at: u32) -> String {
        let url = self.request(at, "url").replace('"', "");
        url.replace("https://gate.example", "")
    }

    /// The times of all requests in milliseconds, as a JSON array.
    pub fn times(&self) -> String {
        let requests = js_sys::Array::from(&self.0.requests());
        sorted_json(
            &requests
                .iter()
                .map(|request| property(&request, "at"))
                .collect::<js_sys::Array>(),
        )
    }

    /// The elapsed time in milliseconds.
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

/// A gateway. It deduplicates requests by idempotency key.
pub fn gateway() -> Server {
    let base = BaseUrl::new("https://gate.example").unwrap();
    Server::gateway(base, AccessToken::new(TOKEN).unwrap())
}

pub fn acme() -> ProjectId {
    ProjectId::new("acme").unwrap()
}

/// The job `j1`.
pub fn job_1() -> GetAgentJob {
    GetAgentJob::new(JobId::new("j1").unwrap())
}

/// Reads the job `j1`.
pub fn get_job(client: &Client) -> ApiCall<GetAgentJob> {
    client.agent_jobs().get(job_1())
}

/// Creates a job.
pub fn create(client: &Client) -> ApiCall<CreateAgentJob> {
    let create = CreateAgentJob::new(Prompt::new("p").unwrap());
    client.agent_jobs().create(create)
}

/// Parses JSON.
pub fn json(text: &str) -> JsValue {
    JSON::parse(text).expect("a test's JSON is well-formed")
}

/// A property of an object, or `undefined`.
fn property(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Asserts that a value equals this JSON, regardless of property order.
#[track_caller]
pub fn assert_json(value: &JsValue, expected: &str) {
    assert_eq!(sorted_json(value), sorted_json(&json(expected)));
}
