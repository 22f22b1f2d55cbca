//! What a caller can learn of a failure.

use std::fmt;

use js_sys::{Error as JsError, JsString};
use wasm_bindgen::{JsCast, JsValue};

use crate::agent_job::AgentJob;
use crate::error::{self, ApiError, DecodeError, ValidationError};
use crate::millis::Millis;

/// Why a call has no result. None of them holds a credential.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/errors.rs"), "```")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Bad input; nothing was sent.
    Validation(ValidationError),
    /// The server said no.
    Api(Box<ApiError>),
    /// The server said yes, and the body is not what it promised.
    Decode {
        /// Where, and what is wrong there.
        error: DecodeError,
        /// `X-Request-Id`, when the answer has one.
        request_id: Option<String>,
    },
    /// No answer: the connection failed or broke, with the host's own error.
    Connection(HostError),
    /// No complete answer within this time: the attempt's, or the whole call's.
    Timeout(Millis),
    /// The job had not come to its end in time: the job as it was last seen, if it was.
    WatchTimeout(Option<Box<AgentJob>>),
    /// The call was aborted by its signal, for this reason.
    Aborted(HostError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validation(error) => error.fmt(f),
            Self::Api(error) => error.fmt(f),
            Self::Decode { error, .. } => error.fmt(f),
            Self::Connection(_) => f.write_str("no answer: the connection failed or broke"),
            Self::Timeout(after) => write!(f, "no complete answer within {} ms", after.0),
            Self::WatchTimeout(_) => f.write_str("the job was not finished in time"),
            Self::Aborted(_) => f.write_str("the call was aborted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connection(cause) | Self::Aborted(cause) => Some(cause),
            // A variant says all that its data does.
            _ => None,
        }
    }
}

impl From<ValidationError> for Error {
    fn from(error: ValidationError) -> Self {
        Self::Validation(error)
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        Self::Api(Box::new(error))
    }
}

impl Error {
    /// An error of the core, in an answer with this request id.
    pub(super) fn from_core(error: error::Error, request_id: Option<String>) -> Self {
        match error {
            error::Error::Validation(error) => error.into(),
            error::Error::Api(error) => error.into(),
            error::Error::Decode(error) => Self::Decode { error, request_id },
        }
    }
}

/// What the host has thrown, or given as the reason of an abort: any JavaScript value.
#[derive(Debug, Clone, PartialEq)]
pub struct HostError(JsValue);

impl HostError {
    pub(super) const fn new(value: JsValue) -> Self {
        Self(value)
    }

    /// The value itself.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/errors.rs"), "```")]
    #[must_use]
    pub const fn as_js(&self) -> &JsValue {
        &self.0
    }
}

/// An error by its name and message, a text as it is, anything else by its kind.
impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = self.0.dyn_ref::<JsError>() {
            return write!(
                f,
                "{}: {}",
                String::from(error.name()),
                String::from(error.message())
            );
        }
        match self.0.dyn_ref::<JsString>() {
            Some(text) => f.write_str(&String::from(text)),
            None => f.write_str(&String::from(JsString::from(self.0.js_typeof()))),
        }
    }
}

impl std::error::Error for HostError {}
