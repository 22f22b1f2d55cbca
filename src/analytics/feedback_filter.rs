//! The source and the status of feedback (docs/mintlify/analytics.md, 4.6). Both feedback reports
//! and the export of feedback filter by them.

use crate::declaration::{Parameter, ParameterIn, ParameterKind};
use crate::error::{Rule, ValidationError};
use crate::parameters::{ParameterType, text_parameter};
use crate::schema::{HasJsonType, JsonType};
use crate::text::quote;

text! {
    /// The status of feedback. Other values are passed through unchanged.
    pub struct FeedbackStatus: open "pending", "in_progress", "resolved", "dismissed"
}
text! {
    /// The source of a reader's feedback on a page.
    pub struct ContextualSource: tag "contextual"
}
text! {
    /// The source of a reader's feedback on a code block.
    pub struct CodeSnippetSource: tag "code_snippet"
}
text! {
    /// The source of other feedback: `agent` for an AI agent's, `thumbs_only` for a vote without a
    /// comment. Other values are passed through unchanged.
    pub struct OtherSource: tag "agent", "thumbs_only"
}

/// The source of feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedbackSource {
    /// A reader's feedback on a code block.
    CodeSnippet,
    /// A reader's feedback on a page.
    Contextual,
    /// Feedback from an AI agent.
    Agent,
    /// A reader's vote without a comment.
    ThumbsOnly,
}

impl FeedbackSource {
    const ALL: [Self; 4] = [
        Self::CodeSnippet,
        Self::Contextual,
        Self::Agent,
        Self::ThumbsOnly,
    ];
    const NAMES: [&'static str; 4] = ["code_snippet", "contextual", "agent", "thumbs_only"];

    /// Returns the value in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl ParameterType for FeedbackSource {
    const PARAMETER: Parameter = Parameter::optional(
        "source",
        ParameterIn::Query,
        ParameterKind::OneOf(&Self::NAMES),
    );
    const DOC: &'static str = "Only feedback from this source.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let mut all = Self::ALL.into_iter();
        all.find(|source| source.as_str() == text)
            .ok_or_else(|| ValidationError::new("source", Rule::OneOf(&Self::NAMES), quote(text)))
    }

    fn to_text(&self) -> String {
        self.as_str().to_owned()
    }
}

text_parameter! {
    /// Statuses of feedback, separated by commas without spaces: `pending,in_progress`.
    pub struct FeedbackStatuses, Query "status", ParameterKind::ListOf(STATUSES),
    "Only feedback with one of these statuses, separated by commas: `pending`, `in_progress`, `resolved`, `dismissed`."
}

const STATUSES: &[&str] = match FeedbackStatus::JSON_TYPE {
    JsonType::OpenEnum(status) => status.known,
    _ => &[],
};
