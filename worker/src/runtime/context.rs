//! What a request brings along through the gateway.

use quillgate::Millis;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use worker::Env;

use crate::runtime::error::{HostError, HostResult};
use crate::variable::{VariableError, Variables, trim_value};

/// The present.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is far below 2^53 and not negative"
)]
pub fn now() -> Millis {
    Millis(js_sys::Date::now() as u64)
}

/// What a Durable Object is told of a request, beside what it is to do.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Call {
    /// The request's id.
    pub id: String,
    /// The project.
    pub project: String,
    /// `traceparent` for the upstream.
    pub traceparent: String,
    /// `tracestate` for the upstream.
    pub tracestate: Option<String>,
}

/// Reads settings from the variables of a Worker.
///
/// # Errors
/// The variable that is missing or malformed.
pub fn read_settings<T>(
    env: &Env,
    read: impl FnOnce(Variables<'_>) -> Result<T, VariableError>,
) -> HostResult<T> {
    read(&|name| trim_value(&variable(env, name)?))
        .map_err(|error| HostError::new(error.to_string()))
}

/// A variable or a secret; what is not text is not one.
pub fn variable(env: &Env, name: &str) -> Option<String> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    value.as_string()
}
