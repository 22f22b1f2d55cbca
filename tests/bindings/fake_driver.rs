//! A driver that records what the core emits.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, JSON, Object, Reflect};
use quillgate_wasm::protocol::{CommandNumber, EventNumber, Mode, Output, Source};
use quillgate_wasm::{Task, attach};
use wasm_bindgen::prelude::*;

/// The kind, number and string of each emitted value.
type Emitted = Rc<RefCell<Vec<(u32, u32, String)>>>;

/// A task with its sources.
pub struct FakeDriver {
    task: Task,
    sources: Array,
    emitted: Emitted,
}

impl FakeDriver {
    /// Creates a driver of an operation for the project `acme`, with parameters as JSON.
    pub fn new(operation: &str, mode: Mode, params: &str) -> Self {
        Self::with_params(operation, mode, &JSON::parse(params).unwrap())
    }

    /// Creates a driver whose parameters have no JSON form.
    pub fn with_params(operation: &str, mode: Mode, params: &JsValue) -> Self {
        let driver = Self {
            task: Task::new(operation, mode as u32),
            sources: Array::new(),
            emitted: Emitted::default(),
        };
        driver.set_source(Source::Client, r#"{ "projectId": "acme" }"#);
        driver.sources.set(Source::Params as u32, params.clone());
        driver.set_source(Source::Options, "{}");
        driver.set_source(Source::Watch, "{}");
        driver
    }

    /// Sets a source from JSON.
    pub fn set_source(&self, source: Source, json: &str) {
        self.sources.set(source as u32, JSON::parse(json).unwrap());
    }

    /// Steps the task at the instant 0, without jitter.
    pub fn step(&mut self, event: EventNumber, number: u32) -> CommandNumber {
        self.emitted.borrow_mut().clear();
        let emitted = Rc::clone(&self.emitted);
        let listen = move |kind, number, text| emitted.borrow_mut().push((kind, number, text));
        let listener = Closure::<dyn FnMut(u32, u32, String)>::new(listen);
        attach(&self.sources, listener.as_ref());
        let command = self.task.step(event as u32, number, 0.0, 0.0);
        CommandNumber::from_number(command).unwrap()
    }

    /// The numbers and strings of one kind that the last step emitted.
    pub fn emitted(&self, expected: Output) -> Vec<(u32, String)> {
        let emitted = self.emitted.borrow();
        let of_kind = emitted.iter().filter(|(kind, ..)| *kind == expected as u32);
        of_kind
            .map(|(_, number, text)| (*number, text.clone()))
            .collect()
    }

    /// The rule and the lines of the rejection that the last step emitted.
    pub fn rejection(&self) -> (u32, Vec<String>) {
        let (rule, text) = self.emitted(Output::Rejection).remove(0);
        (rule, text.lines().map(str::to_owned).collect())
    }
}

/// An object with one property.
pub fn object(name: &str, value: &JsValue) -> JsValue {
    let object = Object::new();
    Reflect::set(&object, &name.into(), value).unwrap();
    object.into()
}
