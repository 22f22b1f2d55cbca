//! The error of a malformed response.

use std::fmt;

/// A 2xx response whose body does not have the expected type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The JSON path of the invalid value, such as `views[3].human`. Empty for the whole body.
    pub at: String,
    /// The reason, such as `must be a string, found a number`.
    pub what: String,
}

impl DecodeError {
    /// Creates an error for the value at path `at`.
    #[cold]
    pub fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            what: what.into(),
        }
    }
}

#[cfg(feature = "json")]
impl DecodeError {
    /// Prepends a property name or an index, such as `[3]`, to the path.
    pub(crate) fn under(mut self, step: &str) -> Self {
        let separator = if self.at.is_empty() || self.at.starts_with('[') {
            ""
        } else {
            "."
        };
        self.at = [step, separator, &self.at].concat();
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.at.is_empty() { "body" } else { &self.at })?;
        f.write_str(" ")?;
        f.write_str(&self.what)
    }
}

impl std::error::Error for DecodeError {}
