//! A driver that keeps what the wasm says.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, JSON, Object, Reflect};
use quillgate::protocol::{CommandNumber, EventNumber, Mode, Source, Text};
use quillgate::wasm::{Task, attach};
use wasm_bindgen::prelude::*;

/// What was said: the kind, the number, the text.
type Said = Rc<RefCell<Vec<(u32, u32, String)>>>;

/// A task with its sources.
pub struct FakeDriver {
    task: Task,
    sources: Array,
    said: Said,
}

impl FakeDriver {
    /// A driver of an operation for the project `acme`, with parameters as JSON.
    pub fn new(operation: &str, mode: Mode, params: &str) -> Self {
        Self::with_params(operation, mode, &JSON::parse(params).unwrap())
    }

    /// The same with parameters that JSON cannot say.
    pub fn with_params(operation: &str, mode: Mode, params: &JsValue) -> Self {
        let driver = Self {
            task: Task::new(operation, mode as u32),
            sources: Array::new(),
            said: Said::default(),
        };
        driver.give(Source::Client, r#"{ "projectId": "acme" }"#);
        driver.sources.set(Source::Params as u32, params.clone());
        driver.give(Source::Options, "{}");
        driver.give(Source::Watch, "{}");
        driver
    }

    /// Sets a source, as JSON.
    pub fn give(&self, source: Source, json: &str) {
        self.sources.set(source as u32, JSON::parse(json).unwrap());
    }

    /// Steps the task at the instant 0, without jitter.
    pub fn step(&mut self, event: EventNumber, number: u32) -> CommandNumber {
        self.said.borrow_mut().clear();
        let said = Rc::clone(&self.said);
        let listen = move |kind, number, text| said.borrow_mut().push((kind, number, text));
        let listener = Closure::<dyn FnMut(u32, u32, String)>::new(listen);
        attach(&self.sources, listener.as_ref());
        let command = self.task.step(event as u32, number, 0.0, 0.0);
        CommandNumber::from_number(command).unwrap()
    }

    /// What was said of a kind by the last step: numbers and texts.
    pub fn said(&self, wanted: Text) -> Vec<(u32, String)> {
        let said = self.said.borrow();
        let of_kind = said.iter().filter(|(kind, ..)| *kind == wanted as u32);
        of_kind
            .map(|(_, number, text)| (*number, text.clone()))
            .collect()
    }

    /// The rule and the lines of the refusal of the last step.
    pub fn refusal(&self) -> (u32, Vec<String>) {
        let (rule, text) = self.said(Text::Refusal).remove(0);
        (rule, text.lines().map(str::to_owned).collect())
    }
}

/// An object with one member.
pub fn object(name: &str, value: &JsValue) -> JsValue {
    let object = Object::new();
    Reflect::set(&object, &name.into(), value).unwrap();
    object.into()
}
