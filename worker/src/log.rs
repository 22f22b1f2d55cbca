//! Lines of the log for operators.

use crate::json;

/// Formats a line that is only for the operator.
#[must_use]
pub fn format_operator_line(message: &str) -> String {
    json::to_text(&serde_json::json!({ "operator": message }))
}
