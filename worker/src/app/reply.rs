//! The reply of a handler. The request context makes a `Response` from each reply.

use std::borrow::Cow;

use wasm_bindgen::JsValue;

use crate::http::problem_kind::ProblemKind;
use crate::http::response::{GatewayResponse, HeaderFields, JSON};

/// The parts of a response. The request context adds the common headers.
pub struct Reply {
    pub status: u16,
    pub headers: HeaderFields,
    /// A JavaScript string, a `ReadableStream` or `null`.
    pub body: JsValue,
    /// The problem that the reply reports, if any.
    pub problem: Option<ProblemKind>,
}

impl Reply {
    /// Returns a reply with a string or a stream as its body.
    pub fn new(status: u16, headers: HeaderFields, body: impl Into<JsValue>) -> Self {
        Self {
            status,
            headers,
            body: body.into(),
            problem: None,
        }
    }

    pub fn json(status: u16, body: impl Into<JsValue>) -> Self {
        let headers = HeaderFields::default().with("content-type", JSON);
        Self::new(status, headers, body)
    }

    pub fn empty(status: u16, headers: HeaderFields) -> Self {
        Self::new(status, headers, JsValue::NULL)
    }

    pub fn with_header(self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        let headers = self.headers.with(name, value);
        Self { headers, ..self }
    }
}

impl From<GatewayResponse> for Reply {
    fn from(response: GatewayResponse) -> Self {
        let body = response.body.as_deref();
        Self {
            status: response.status,
            headers: response.headers,
            body: body.map_or(JsValue::NULL, JsValue::from_str),
            problem: response.problem,
        }
    }
}
