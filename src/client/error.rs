//! Errors of the client.

use std::fmt;
use std::time::Duration;

use crate::agent_job::AgentJob;
use crate::client::connection_failure::ConnectionFailure;
use crate::deployment::Deployment;
use crate::error::{self, ApiError, DecodeError, ValidationError};
use crate::response::Head;

/// The reason why a call failed. Never contains a credential.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/errors.rs"), "```")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An argument or an option is invalid. Nothing was sent.
    Validation(ValidationError),
    /// The status of the response is not 2xx.
    Api(Box<ApiError>),
    /// A write with an unknown outcome. A gateway can't tell whether Mintlify performed it, or the
    /// status is 2xx and the body can't be read, for example because a created job has no id.
    ///
    /// The client does not retry. Check whether the write took effect before you repeat it with
    /// [`force`](crate::client::ApiCall::force), because Mintlify may perform it twice.
    OutcomeUnknown(Box<ApiError>),
    /// The status is 2xx, but the body does not have the expected type.
    Decode {
        /// The path of the invalid value, and the reason.
        error: DecodeError,
        /// The `X-Request-Id` of the response, if any.
        request_id: Option<String>,
    },
    /// The connection failed or broke before the response was complete. [`ConnectionFailure`] has the
    /// cause and the next step.
    Connection(Box<ConnectionFailure>),
    /// An attempt or the whole call exceeded this timeout.
    Timeout(Duration),
    /// The job did not finish in time. Contains its last known state, if any.
    WatchTimeout(Option<Box<AgentJob>>),
    /// The deployment did not end in time. Contains its last known state, if any.
    DeploymentWatchTimeout(Option<Box<Deployment>>),
    /// The signal aborted the call, with this reason.
    #[cfg(target_arch = "wasm32")]
    Aborted(HostError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validation(error) => error.fmt(f),
            Self::Api(error) | Self::OutcomeUnknown(error) => error.fmt(f),
            Self::Decode { error, .. } => error.fmt(f),
            Self::Connection(failure) => failure.fmt(f),
            Self::Timeout(timeout) => {
                write!(f, "no complete response within {} ms", timeout.as_millis())
            }
            Self::WatchTimeout(_) => f.write_str("the job did not finish in time"),
            Self::DeploymentWatchTimeout(_) => f.write_str("the deployment did not end in time"),
            #[cfg(target_arch = "wasm32")]
            Self::Aborted(_) => f.write_str("the call was aborted"),
        }
    }
}

impl std::error::Error for Error {
    /// Returns the host's error. The message already contains the other errors.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connection(failure) => Some(&failure.cause),
            Self::Validation(_)
            | Self::Api(_)
            | Self::OutcomeUnknown(_)
            | Self::Decode { .. }
            | Self::Timeout(_)
            | Self::WatchTimeout(_)
            | Self::DeploymentWatchTimeout(_) => None,
            #[cfg(target_arch = "wasm32")]
            Self::Aborted(reason) => Some(reason),
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
    /// Returns the delay that the server requested with `Retry-After`, if any.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/errors.rs"), "```")]
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api(error) | Self::OutcomeUnknown(error) => error.retry_after,
            _ => None,
        }
    }

    /// Returns whether the request can have reached the server. If it is a write, it may have taken
    /// effect.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/errors.rs"), "```")]
    #[must_use]
    pub fn may_have_been_sent(&self) -> bool {
        match self {
            Self::Validation(_) => false,
            Self::Connection(failure) => failure.may_have_been_sent,
            _ => true,
        }
    }

    /// Unreachable: a task of one call ends with a result or an error, and a list has a page.
    pub(super) fn missing() -> Self {
        Self::from_core(DecodeError::new("", "is missing").into(), None)
    }

    /// The error of a write whose 2xx response can't be read.
    pub(super) fn from_unreadable_write(head: Head, error: &Self) -> Self {
        Self::OutcomeUnknown(Box::new(ApiError {
            status: head.status,
            message: format!("the response of the write can't be read: {error}"),
            details: Vec::new(),
            code: None,
            request_id: head.request_id,
            retry_after: None,
        }))
    }

    /// Converts an error of the core.
    pub(super) fn from_core(error: error::Error, request_id: Option<String>) -> Self {
        match error {
            error::Error::Validation(error) => error.into(),
            error::Error::Api(error) => error.into(),
            error::Error::Decode(error) => Self::Decode { error, request_id },
        }
    }
}

pub use host_error::HostError;

#[cfg(not(target_arch = "wasm32"))]
mod host_error {
    use std::error::Error;
    use std::fmt::{self, Write as _};
    use std::sync::Arc;

    /// An error of the host, such as a refused connection.
    #[derive(Debug, Clone)]
    pub struct HostError(Arc<dyn Error + Send + Sync>);

    impl HostError {
        /// Wraps an error or a message.
        ///
        /// # Example
        /// ```
        /// # use quillgate::client::HostError;
        /// let error = HostError::new("connection refused");
        /// assert_eq!(error.to_string(), "connection refused");
        /// ```
        pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
            Self(error.into().into())
        }

        /// Returns the messages of the error and its causes, and their kinds.
        pub(in crate::client) fn describe(&self) -> String {
            let mut text = String::new();
            let mut next: Option<&(dyn Error + 'static)> = Some(&*self.0);
            while let Some(error) = next {
                // The message of an I/O error depends on the system, its kind does not.
                if let Some(io) = error.downcast_ref::<std::io::Error>() {
                    let _ = write!(text, "{:?}: ", io.kind());
                }
                let _ = write!(text, "{error}; ");
                next = error.source();
            }
            text
        }

        /// Returns whether the request certainly did not reach the server.
        pub(in crate::client) fn is_unsent(&self) -> bool {
            let error = self.0.downcast_ref::<reqwest::Error>();
            error.is_some_and(|error| error.is_connect() || error.is_builder())
        }

        /// Programs that are not in a page have no origin.
        #[expect(clippy::unused_self, reason = "the error of WebAssembly needs it")]
        pub(in crate::client) const fn blocked_page(&self, _: &str) -> Option<String> {
            None
        }
    }

    /// Equal only to its clones, because most errors cannot be compared.
    impl PartialEq for HostError {
        fn eq(&self, other: &Self) -> bool {
            Arc::ptr_eq(&self.0, &other.0)
        }
    }

    impl fmt::Display for HostError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    impl Error for HostError {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.source()
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod host_error {
    use std::fmt;

    use js_sys::{Error as JsError, JsString};
    use wasm_bindgen::{JsCast, JsValue};

    /// An error of the host: the value that JavaScript threw, or the reason of an abort.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HostError(JsValue);

    impl HostError {
        /// Wraps a value.
        ///
        /// # Example
        /// ```
        /// # use quillgate::client::HostError;
        /// let error = HostError::new("connection refused".into());
        /// assert_eq!(error.to_string(), "connection refused");
        /// ```
        #[must_use]
        pub const fn new(value: JsValue) -> Self {
            Self(value)
        }

        /// Returns the value.
        ///
        /// # Example
        /// ```
        /// # use quillgate::client::HostError;
        /// let error = HostError::new("connection refused".into());
        /// assert_eq!(error.as_js().as_string().as_deref(), Some("connection refused"));
        /// ```
        #[must_use]
        pub const fn as_js(&self) -> &JsValue {
            &self.0
        }

        /// Returns the codes, names and messages of the error and its causes.
        pub(in crate::client) fn describe(&self) -> String {
            let mut text = String::new();
            let mut next = self.0.clone();
            for _ in 0..MAX_CAUSES {
                if !next.is_object() {
                    break;
                }
                for name in ["code", "name", "message"] {
                    let value = property(&next, name);
                    text.push_str(&value.as_string().unwrap_or_default());
                    text.push(' ');
                }
                next = property(&next, "cause");
            }
            text
        }

        /// Returns `false`, because `fetch` does not tell.
        #[expect(clippy::unused_self, reason = "the error of native programs needs it")]
        pub(in crate::client) const fn is_unsent(&self) -> bool {
            false
        }

        /// Returns the origin of the page if the browser may have blocked its request to `server`.
        pub(in crate::client) fn blocked_page(&self, server: &str) -> Option<String> {
            // The messages of Chrome, Firefox and Safari for every failure of `fetch`.
            const OPAQUE: [&str; 3] = ["Failed to fetch", "NetworkError when", "Load failed"];
            let message = property(&self.0, "message").as_string()?;
            let is_opaque = OPAQUE.iter().any(|start| message.starts_with(start));
            let location = property(&js_sys::global(), "location");
            let page = property(&location, "origin").as_string()?;
            (is_opaque && page != server).then_some(page)
        }
    }

    const MAX_CAUSES: usize = 10;

    /// Returns a property, or `undefined` if it cannot be read.
    fn property(value: &JsValue, name: &str) -> JsValue {
        js_sys::Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED)
    }

    /// Prints the name and message of an error, a string verbatim, and the type of other values.
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
}
