use std::fmt;

use quillgate::ValidationError;

use crate::http::problem::Problem;
use crate::variable::VariableError;

/// Becomes a problem for the caller, with the message for the log only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostError {
    /// The same request may succeed later.
    Unavailable(String),
    /// A defect or damaged data. A retry does not help.
    Internal(String),
    Misconfigured {
        name: String,
        /// Worded to follow the name.
        rule: String,
    },
}

// Exceptions between the Worker and a Durable Object only have a message, so its prefix holds the
// kind.
const INTERNAL: &str = "defect: ";
const MISCONFIGURED: &str = "misconfigured: ";

impl HostError {
    pub fn new(message: impl Into<String>) -> Self {
        Self::Internal(message.into())
    }

    pub fn unbound(name: &str) -> Self {
        Self::Misconfigured {
            name: name.to_owned(),
            rule: "is not bound".to_owned(),
        }
    }

    /// Exceptions of the runtime have no prefix.
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

impl From<ValidationError> for HostError {
    fn from(error: ValidationError) -> Self {
        Self::new(error.message())
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
