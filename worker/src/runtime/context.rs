use quillgate::Millis;
use wasm_bindgen::JsValue;
use worker::{Env, ObjectNamespace};

use crate::runtime::error::{HostError, HostResult};
use crate::runtime::host::stringify_json;
use crate::variable::{VariableError, Variables, trim_value};

/// On Cloudflare, the clock advances only with I/O, not during computation.
pub fn now() -> Millis {
    Millis(to_integer(js_sys::Date::now()))
}

pub fn to_date(time: Millis) -> js_sys::Date {
    js_sys::Date::new(&JsValue::from_f64(to_number(time.0)))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub const fn to_number(integer: u64) -> f64 {
    integer as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clocks and sizes are far below 2^53 and not negative"
)]
pub const fn to_integer(number: f64) -> u64 {
    number as u64
}

pub fn read_settings<T>(
    env: &Env,
    read: impl FnOnce(Variables<'_>) -> Result<T, VariableError>,
) -> HostResult<T> {
    Ok(read(&|name| trim_value(&variable(env, name)?))?)
}

pub fn durable_objects(env: &Env, name: &str) -> HostResult<ObjectNamespace> {
    env.durable_object(name)
        .map_err(|_| HostError::unbound(name))
}

/// A value that is not a string, such as a number without quotes, counts as its JSON, so that it is
/// used or rejected, but never ignored.
pub fn variable(env: &Env, name: &str) -> Option<String> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    let json = || stringify_json(&value).map_or_else(|_| "{}".to_owned(), String::from);
    (!value.is_null() && !value.is_undefined()).then(|| value.as_string().unwrap_or_else(json))
}
