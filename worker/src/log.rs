//! One line of JSON a request: never a token, a key, a prompt or a query.

use serde_json::{Value, json};
use worker::{console_error, console_log};

/// What is known of a request when it is answered.
#[derive(Default)]
pub struct Line {
    /// The request's id.
    pub id: String,
    /// The caller's `sub`.
    pub subject: Option<String>,
    /// The operation's name.
    pub operation: Option<&'static str>,
    /// The problem's kind, when it is one.
    pub problem: Option<&'static str>,
    /// The upstream's status, when it was asked and answered.
    pub upstream_status: Option<u16>,
    /// What the operator has to mend.
    pub operator: Option<String>,
}

impl Line {
    /// Writes the line.
    pub fn write(&self, status: u16, milliseconds: u64) {
        let line: Value = json!({
            "requestId": self.id,
            "subject": self.subject,
            "operation": self.operation,
            "status": status,
            "problem": self.problem,
            "upstreamStatus": self.upstream_status,
            "milliseconds": milliseconds,
            "operator": self.operator,
        });
        if self.operator.is_some() {
            console_error!("{line}");
        } else {
            console_log!("{line}");
        }
    }
}
