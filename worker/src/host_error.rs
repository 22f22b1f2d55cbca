//! Failures of the gateway and its runtime. A [`HostError`] becomes a problem for the caller. The
//! message of the error is for the log only.

use std::fmt;

use crate::http::problem::Problem;
use crate::variable::VariableError;

/// A failure of the gateway or its runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostError {
    /// The runtime failed, for example a Durable Object or D1. The same request may succeed later.
    Unavailable(String),
    /// The gateway has a defect, or its stored data is damaged. A retry does not help.
    Internal(String),
    /// A variable or a binding is missing or malformed.
    Misconfigured {
        /// The name of the variable or binding.
        name: String,
        /// The rule that the value breaks, worded to follow the name.
        rule: String,
    },
}

// Exceptions between the Worker and a Durable Object have a message and no other properties. These
// prefixes keep the kind of an error.
const INTERNAL: &str = "defect: ";
const MISCONFIGURED: &str = "misconfigured: ";

impl HostError {
    /// Creates an error for a defect of the gateway.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Internal(message.into())
    }

    /// Creates an error for a missing binding.
    pub fn unbound(name: &str) -> Self {
        Self::Misconfigured {
            name: name.to_owned(),
            rule: "is not bound".to_owned(),
        }
    }

    /// Creates an error from the message of an exception. Exceptions of the runtime have no prefix.
    pub fn from_exception(message: String) -> Self {
        if let Some(message) = message.strip_prefix(INTERNAL) {
            return Self::new(message);
        }
        let named = message.strip_prefix(MISCONFIGURED);
        match named.and_then(|text| text.split_once(' ')) {
            Some((name, rule)) => Self::Misconfigured {
                name: name.to_owned(),
                rule: rule.to_owned(),
            },
            None => Self::Unavailable(message),
        }
    }
}

/// Formats the message of the exception and of the log.
impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(message) => f.write_str(message),
            Self::Internal(message) => write!(f, "{INTERNAL}{message}"),
            Self::Misconfigured { name, rule } => write!(f, "{MISCONFIGURED}{name} {rule}"),
        }
    }
}

impl From<VariableError> for HostError {
    fn from(error: VariableError) -> Self {
        Self::Misconfigured {
            name: error.variable.to_owned(),
            rule: error.rule.to_owned(),
        }
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        let problem = match &error {
            HostError::Unavailable(_) => Self::object_unavailable(),
            HostError::Internal(_) => Self::internal(),
            HostError::Misconfigured { name, rule } => Self::misconfigured(name, rule),
        };
        problem.with_operator(error.to_string())
    }
}
