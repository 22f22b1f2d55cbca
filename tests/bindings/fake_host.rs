//! A call's surroundings: see `fake_host.js`.

use js_sys::{Function, JSON, Object, Reflect};
use quillgate::wasm::Engine;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/tests/bindings/fake_host.js")]
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
    fn signal(this: &HostState, ms: Option<u32>, reason: &JsValue) -> JsValue;

    #[wasm_bindgen(method)]
    fn answer(this: &HostState, json: &str);

    #[wasm_bindgen(method)]
    fn requests(this: &HostState) -> JsValue;

    #[wasm_bindgen(method)]
    fn running(this: &HostState) -> u32;

    #[wasm_bindgen(method, getter)]
    fn fetch(this: &HostState) -> Function;

    /// A value as one text, its members in order.
    pub fn printed(value: &JsValue) -> String;

    /// Every text that can be reached from a value.
    pub fn everything(value: &JsValue) -> String;

    /// Notes what it is told.
    pub type Observer;

    #[wasm_bindgen(constructor)]
    pub fn new() -> Observer;

    #[wasm_bindgen(method, getter)]
    pub fn listener(this: &Observer) -> Function;

    #[wasm_bindgen(method)]
    pub fn events(this: &Observer) -> JsValue;
}

pub const TOKEN: &str = "eyJ0b2tlbg.secret-part";
pub const KEY: &str = "mint_secret_of_the_organisation";

/// The other side, what it will answer, and the clock.
pub struct FakeHost(HostState);

impl FakeHost {
    /// A host in which the requests to come are answered so, in this order.
    pub fn new<'a>(answers: impl IntoIterator<Item = &'a str>) -> Self {
        let state = HostState::begin();
        for answer in answers {
            state.answer(answer);
        }
        Self(state)
    }

    /// An engine that talks to a gateway.
    pub fn engine(&self) -> Engine {
        self.engine_of(&format!(
            r#"{{"baseUrl":"https://gate.example","projectId":"acme","token":"{TOKEN}"}}"#
        ))
        .expect("the options are sound")
    }

    /// An engine with these options, and the host's `fetch`.
    pub fn engine_of(&self, options: &str) -> Result<Engine, JsValue> {
        Engine::new(with(&json(options), "fetch", &self.0.fetch()))
    }

    /// Options with a signal that aborts with `reason` after `ms`, or never.
    pub fn signal(&self, ms: Option<u32>, reason: &JsValue) -> JsValue {
        with(&json("{}"), "signal", &self.0.signal(ms, reason))
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

/// Carries out a call to its end.
pub async fn call(
    engine: &Engine,
    operation: &str,
    params: &str,
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    JsFuture::from(engine.call(operation, json(params), options.clone())?).await
}

/// Reads the job `j1`.
pub async fn get_job(engine: &Engine, options: &str) -> Result<JsValue, JsValue> {
    call(engine, "agentJobs.get", r#"{"id":"j1"}"#, &json(options)).await
}

/// A value from JSON.
pub fn json(text: &str) -> JsValue {
    JSON::parse(text).expect("a test's JSON is well-formed")
}

/// A copy of an object with one more member.
pub fn with(object: &JsValue, name: &str, value: &JsValue) -> JsValue {
    let copy = Object::assign(&Object::new(), object.unchecked_ref());
    Reflect::set(&copy, &name.into(), value).expect("a plain object takes members");
    copy.into()
}

/// A member of a value.
pub fn get(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Compares a value with JSON, whatever the order of the members.
#[track_caller]
pub fn assert_json(value: &JsValue, expected: &str) {
    assert_eq!(printed(value), printed(&json(expected)));
}

/// The members of a fault that this test is about.
pub fn part(fault: &JsValue, members: &[&str]) -> JsValue {
    members.iter().fold(json("{}"), |part, name| {
        with(&part, name, &get(fault, name))
    })
}
