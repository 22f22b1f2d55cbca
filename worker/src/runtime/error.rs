//! The errors of the runtime. A [`HostError`] becomes a 503 for the caller. The message of the
//! error is for the log only.

use std::fmt;

use wasm_bindgen::{JsCast, JsValue};

use crate::http::problem::Problem;

/// An error of the runtime, with a message for the log.
#[derive(Debug, Clone)]
pub struct HostError(String);

pub type HostResult<T> = Result<T, HostError>;

impl HostError {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Converts a failure of the runtime, such as a failed Durable Object or D1 database, to a 503.
impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        Self::object_unavailable().with_operator(error.0)
    }
}

impl From<JsValue> for HostError {
    fn from(error: JsValue) -> Self {
        let message = match error.dyn_ref::<js_sys::Error>() {
            Some(error) => Some(error.message().into()),
            None => error.as_string(),
        };
        Self(message.unwrap_or_else(|| "an error without words".to_owned()))
    }
}

impl From<HostError> for JsValue {
    fn from(error: HostError) -> Self {
        js_sys::Error::new(&error.0).into()
    }
}

impl From<worker::Error> for HostError {
    fn from(error: worker::Error) -> Self {
        JsValue::from(error).into()
    }
}

impl From<HostError> for worker::Error {
    fn from(error: HostError) -> Self {
        Self::RustError(error.0)
    }
}

impl From<serde_wasm_bindgen::Error> for HostError {
    fn from(error: serde_wasm_bindgen::Error) -> Self {
        JsValue::from(error).into()
    }
}
