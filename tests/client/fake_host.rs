//! A call's surroundings: see `fake_host.js`.

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

    #[wasm_bindgen(method, js_name = leftBehind)]
    fn left_behind(this: &HostState) -> u32;

    #[wasm_bindgen(method)]
    fn sleep(this: &HostState, ms: u32) -> Promise;

    #[wasm_bindgen(method)]
    fn signal(this: &HostState, ms: Option<u32>, reason: &JsValue) -> AbortSignal;

    #[wasm_bindgen(method)]
    fn answer(this: &HostState, json: &str);

    #[wasm_bindgen(method)]
    fn requests(this: &HostState) -> JsValue;

    #[wasm_bindgen(method)]
    fn running(this: &HostState) -> u32;

    #[wasm_bindgen(method, js_name = replaceFetch)]
    fn replace_fetch(this: &HostState);

    #[wasm_bindgen(method, getter)]
    fn fetch(this: &HostState) -> Function;

    /// A value as one text, its members in order.
    pub fn printed(value: &JsValue) -> String;
}

pub const TOKEN: &str = "eyJ0b2tlbg.secret-part";
pub const KEY: &str = "mint_secret_of_the_organisation";

/// Once, so that the first answer is the result.
pub const ONCE: CallOptions = CallOptions {
    timeout: quillgate::options::DEFAULT_TIMEOUT,
    total_timeout: None,
    max_retries: 0,
    is_deduplicated: false,
};

/// The server, what it will answer, and the clock.
pub struct FakeHost(HostState);

impl FakeHost {
    /// A host in which the requests to come are answered so, in this order.
    pub fn new<T: AsRef<str>>(answers: impl IntoIterator<Item = T>) -> Self {
        let state = HostState::begin();
        for answer in answers {
            state.answer(answer.as_ref());
        }
        Self(state)
    }

    /// A client of a gateway.
    pub fn client(&self) -> Client {
        self.client_of(gateway())
    }

    /// A client of the platform itself.
    pub fn platform(&self) -> Client {
        self.client_of(Server::platform(AdminKey::new(KEY).unwrap()))
    }

    /// A client of this server, with the host's `fetch`.
    pub fn client_of(&self, server: Server) -> Client {
        Client::new(server, acme()).with_fetch(self.0.fetch())
    }

    /// What sends a request here.
    pub fn fetch(&self) -> Function {
        self.0.fetch()
    }

    /// Makes this host's `fetch` everybody's.
    pub fn replace_fetch(&self) {
        self.0.replace_fetch();
    }

    /// A signal that aborts with `reason` after `ms`, or never.
    pub fn signal(&self, ms: Option<u32>, reason: &JsValue) -> AbortSignal {
        self.0.signal(ms, reason)
    }

    /// Lets `ms` go by.
    pub async fn sleep(&self, ms: u32) {
        JsFuture::from(self.0.sleep(ms)).await.unwrap();
    }

    /// The method, address, body and time of every request so far.
    pub fn requests(&self) -> JsValue {
        self.0.requests()
    }

    /// How many requests there were.
    pub fn count(&self) -> u32 {
        js_sys::Array::from(&self.0.requests()).length()
    }

    /// A member of the request number `at`.
    pub fn request(&self, at: u32, member: &str) -> String {
        printed(&get(
            &js_sys::Array::from(&self.0.requests()).get(at),
            member,
        ))
    }

    /// The address of the request number `at`, without the gateway's own.
    pub fn target(&self, at: u32) -> String {
        let url = self.request(at, "url").replace('"', "");
        url.replace("https://gate.example", "")
    }

    /// When the requests came, in milliseconds.
    pub fn times(&self) -> String {
        let requests = js_sys::Array::from(&self.0.requests());
        printed(
            &requests
                .iter()
                .map(|request| get(&request, "at"))
                .collect::<js_sys::Array>(),
        )
    }

    /// How much time has gone by, in milliseconds.
    pub fn elapsed(&self) -> u32 {
        self.0.elapsed()
    }

    /// Fails when a request still runs, a timer still ticks or a signal is still listened to.
    pub fn assert_quiet(&self) {
        assert_eq!(self.0.running(), 0, "requests still run");
        assert_eq!(
            self.0.left_behind(),
            0,
            "timers or listeners are left behind"
        );
    }
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A gateway, which deduplicates.
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

/// A value from JSON.
pub fn json(text: &str) -> JsValue {
    JSON::parse(text).expect("a test's JSON is well-formed")
}

/// A member of a value.
fn get(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Compares a value with JSON, whatever the order of the members.
#[track_caller]
pub fn assert_json(value: &JsValue, expected: &str) {
    assert_eq!(printed(value), printed(&json(expected)));
}
