//! Errors as plain objects: `{ kind, message, … }`, with the data of each kind.
//!
//! | kind | members |
//! | --- | --- |
//! | `validation` | `field`, `rule` |
//! | `api` | `status`, `details`, `code`, `requestId`, `retryAfter` in seconds, `body`, `headers` |
//! | `decode` | `where`, `what`, `requestId`, `headers` |
//! | `connection` | `cause` |
//! | `timeout` | `after` in milliseconds |
//! | `jobWaitTimeout` | `job`: as last seen, or `null` |
//!
//! An abort is no fault: it rejects with the signal's own reason.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::JsValue;

use crate::error::{ApiError, DecodeError, ValidationError};
use crate::millis::Millis;
use crate::text::format_integer;
use crate::wasm::host::milliseconds;

/// A plain object under construction.
pub struct Plain(Object);

impl Plain {
    /// An empty one.
    pub fn new() -> Self {
        Self(Object::new())
    }

    /// Sets a member.
    pub fn with(self, name: &str, value: impl Into<JsValue>) -> Self {
        // A fresh plain object takes every member.
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &value.into());
        self
    }

    fn fault(kind: &str, message: &str) -> Self {
        Self::new().with("kind", kind).with("message", message)
    }
}

impl From<Plain> for JsValue {
    fn from(plain: Plain) -> Self {
        plain.0.into()
    }
}

fn or_null<T: Into<JsValue>>(value: Option<T>) -> JsValue {
    value.map_or(JsValue::NULL, Into::into)
}

/// Bad input: nothing was sent.
pub fn validation(error: &ValidationError) -> JsValue {
    Plain::fault("validation", &error.message())
        .with("field", error.field.as_ref())
        .with("rule", error.rule.name())
        .into()
}

/// The server said no.
pub fn api(error: &ApiError, body: JsValue, headers: JsValue) -> JsValue {
    let details: Array = error
        .details
        .iter()
        .map(|text| JsValue::from_str(text))
        .collect();
    let seconds = |wait: Millis| milliseconds(wait) / 1000.0;
    let mut message = format_integer(error.status.into());
    message.push(' ');
    message.push_str(&error.message);
    Plain::fault("api", &message)
        .with("status", error.status)
        .with("details", details)
        .with("code", or_null(error.code.as_deref()))
        .with("requestId", or_null(error.request_id.as_deref()))
        .with("retryAfter", or_null(error.retry_after.map(seconds)))
        .with("body", body)
        .with("headers", headers)
        .into()
}

/// The server said yes, and the body is not what it promised.
pub fn decode(error: &DecodeError, request_id: Option<String>, headers: JsValue) -> JsValue {
    let mut message = String::from(if error.at.is_empty() {
        "the body"
    } else {
        &error.at
    });
    message.push(' ');
    message.push_str(&error.what);
    Plain::fault("decode", &message)
        .with("where", error.at.as_str())
        .with("what", error.what.as_str())
        .with("requestId", or_null(request_id))
        .with("headers", headers)
        .into()
}

/// No answer.
pub fn connection(cause: JsValue) -> JsValue {
    Plain::fault("connection", "no answer: the connection failed or broke")
        .with("cause", cause)
        .into()
}

/// No complete answer in time.
pub fn timeout(after: Millis) -> JsValue {
    let mut message = String::from("no complete answer within ");
    message.push_str(&format_integer(after.0));
    message.push_str(" ms");
    Plain::fault("timeout", &message)
        .with("after", milliseconds(after))
        .into()
}

/// The job was not finished in time.
pub fn job_wait_timeout(job: JsValue) -> JsValue {
    Plain::fault("jobWaitTimeout", "the job was not finished in time")
        .with("job", job)
        .into()
}
