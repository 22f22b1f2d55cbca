//! The project that operations work on, and the rules for ids in a path.

use crate::encode::percent_encode;
use crate::error::{Rule, ValidationError};
use crate::text::{control_length, format_integer, quote};

/// The maximum length of an id in UTF-8: 256 bytes. Mintlify states no limit. The gateway uses ids
/// as tags of `WebSocket`s, which Cloudflare limits to this length.
pub const MAX_ID_BYTES: usize = 256;

/// Checks that `text` is valid as one path segment: not empty, neither `.` nor `..`, at most
/// [`MAX_ID_BYTES`] long, and without control characters.
///
/// Percent-encoding makes all other strings safe. It cannot protect `.` and `..`, because URL
/// parsers read `%2e%2e` as `..`.
pub(crate) fn path_segment(field: &'static str, text: String) -> Result<String, ValidationError> {
    match text.as_str() {
        "" => Err(ValidationError::new(field, Rule::NotEmpty, "empty text")),
        "." | ".." => Err(ValidationError::new(
            field,
            Rule::NotDotSegment,
            if text == "." { "\".\"" } else { "\"..\"" },
        )),
        _ if text.len() > MAX_ID_BYTES => {
            let mut found = format_integer(text.len() as u64);
            found.push_str(" bytes");
            Err(ValidationError::new(field, Rule::IdLength, found))
        }
        _ if (0..text.len()).any(|at| control_length(text.as_bytes(), at) > 0) => Err(
            ValidationError::new(field, Rule::NoControlCharacter, quote(&text)),
        ),
        _ => Ok(text),
    }
}

/// The project's identifier, from the API keys page of Mintlify's dashboard
/// (docs/mintlify/rules.md, 4).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProjectId(String);

impl ProjectId {
    /// Creates an identifier.
    ///
    /// # Errors
    /// [`Rule::NotEmpty`] if `id` is empty, [`Rule::NotDotSegment`] if it is `.` or `..`,
    /// [`Rule::IdLength`] if it is longer than [`MAX_ID_BYTES`], [`Rule::NoControlCharacter`] if it
    /// contains one.
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

    /// Returns the identifier as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the identifier, percent-encoded as one path segment.
    #[must_use]
    pub fn as_path_segment(&self) -> String {
        percent_encode(&self.0)
    }
}
