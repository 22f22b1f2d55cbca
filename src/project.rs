//! The project that every operation works on, and what an id must be to stand in a path.

use crate::encode::percent_encode;
use crate::error::{Rule, ValidationError};

/// Checks that `text` can stand as one segment of a path.
///
/// Any other character is made harmless by percent-encoding; `.` and `..` are not,
/// since a URL parser reads `%2e%2e` as `..` too.
pub(crate) fn path_segment(field: &'static str, text: String) -> Result<String, ValidationError> {
    match text.as_str() {
        "" => Err(ValidationError::new(field, Rule::NotEmpty, "empty text")),
        "." | ".." => Err(ValidationError::new(
            field,
            Rule::NotDotSegment,
            if text == "." { "\".\"" } else { "\"..\"" },
        )),
        _ => Ok(text),
    }
}

/// The project's identifier, as copied from the API keys page of the dashboard (docs/platform.md, 4).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProjectId(String);

impl ProjectId {
    /// Takes `id` as a project identifier.
    ///
    /// # Errors
    /// [`Rule::NotEmpty`] for empty text, [`Rule::NotDotSegment`] for `.` and `..`.
    ///
    /// # Example
    /// ```
    /// use quillgate::ProjectId;
    ///
    /// assert_eq!(ProjectId::new("a/b")?.as_path_segment(), "a%2Fb");
    /// assert!(ProjectId::new("..").is_err());
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn new(id: impl Into<String>) -> Result<Self, ValidationError> {
        path_segment("projectId", id.into()).map(Self)
    }

    /// The identifier as it is.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identifier percent-encoded as one path segment.
    #[must_use]
    pub fn as_path_segment(&self) -> String {
        percent_encode(&self.0)
    }
}
