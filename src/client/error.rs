//! Errors of the client.

use std::fmt;
use std::time::Duration;

use crate::agent_job::AgentJob;
use crate::error::{self, ApiError, DecodeError, ValidationError};

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
    /// The status is 2xx, but the body does not have the expected type.
    Decode {
        /// The path of the invalid value, and the reason.
        error: DecodeError,
        /// The `X-Request-Id` of the response, if any.
        request_id: Option<String>,
    },
    /// The connection failed or broke before the response was complete.
    Connection(HostError),
    /// An attempt or the whole call exceeded this timeout.
    Timeout(Duration),
    /// The job did not finish in time. Contains its last known state, if any.
    WatchTimeout(Option<Box<AgentJob>>),
    /// The signal aborted the call, with this reason.
    #[cfg(target_arch = "wasm32")]
    Aborted(HostError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validation(error) => error.fmt(f),
            Self::Api(error) => error.fmt(f),
            Self::Decode { error, .. } => error.fmt(f),
            Self::Connection(_) => f.write_str("the connection failed or broke"),
            Self::Timeout(timeout) => {
                write!(f, "no complete response within {} ms", timeout.as_millis())
            }
            Self::WatchTimeout(_) => f.write_str("the job did not finish in time"),
            #[cfg(target_arch = "wasm32")]
            Self::Aborted(_) => f.write_str("the call was aborted"),
        }
    }
}

impl std::error::Error for Error {
    /// Returns the host's error. The message already contains the other errors.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connection(cause) => Some(cause),
            Self::Validation(_)
            | Self::Api(_)
            | Self::Decode { .. }
            | Self::Timeout(_)
            | Self::WatchTimeout(_) => None,
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
            Self::Api(error) => error.retry_after,
            _ => None,
        }
    }

    /// Unreachable: a task of one call ends with a result or an error, and a list has a page.
    pub(super) fn missing() -> Self {
        Self::from_core(DecodeError::new("", "is missing").into(), None)
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
    use std::fmt;
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
