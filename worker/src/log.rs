//! Log lines for operators.

use crate::json;

/// Formats a message to the operator as a log line.
pub fn format_operator_line(message: &str) -> String {
    json::to_text(&serde_json::json!({ "operator": message }))
}
