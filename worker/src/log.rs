//! Log lines for operators.

use crate::json;

/// Formats a message to the operator as a log line.
#[must_use]
pub fn format_operator_line(message: &str) -> String {
    json::to_text(&serde_json::json!({ "operator": message }))
}

/// Writes a message for the operator to the log.
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) fn log_for_operator(message: &str) {
    crate::runtime::log_error(&format_operator_line(message));
}
