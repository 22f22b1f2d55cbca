//! The log lines of requests. The gateway writes one line of JSON per request, and another line
//! when a streamed export ends. The lines never contain a token, a key, a prompt or a query.

use serde::Serialize;

use crate::http::problem_kind::ProblemKind;

/// The contents of a request's log line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry<'a> {
    /// The value of `X-Request-Id`.
    pub request_id: &'a str,
    /// The trace id (W3C Trace Context) of the request: 32 hexadecimal digits.
    pub trace_id: &'a str,
    /// The `sub` of the caller's token, once the caller is identified.
    pub subject: Option<&'a str>,
    /// The pattern of the route, such as `/v2/agent/{projectId}/job/{id}`.
    pub route: Option<&'a str>,
    /// The id of the project, if the caller is authorized for the project.
    pub project: Option<&'a str>,
    /// The HTTP status of the response.
    pub status: u16,
    /// The kind of problem, if the response is a problem.
    pub problem: Option<ProblemKind>,
    /// The HTTP status of the upstream's response.
    pub upstream_status: Option<u16>,
    /// The duration of the upstream exchange in milliseconds.
    pub upstream_milliseconds: Option<u64>,
    /// The value of `Cache-Status` after the cache's name.
    pub cache: Option<&'a str>,
    /// The number of requests left in the budget.
    pub budget_left: Option<u32>,
    /// The duration of the request in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator.
    pub operator: Option<&'a str>,
}

/// The contents of the log line about the end of an export.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportEnd<'a> {
    /// The value of `X-Request-Id` in the response.
    pub request_id: &'a str,
    /// The number of rows written.
    pub export_rows: u64,
    /// The number of requests for pages that the organization's object has answered. Refusals count
    /// too.
    pub export_requests: u64,
    /// `complete`, `cancelled`, or the kind of problem that ended the export.
    pub export_end: &'a str,
    /// The duration of the export in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator about a required fix.
    pub operator: Option<&'a str>,
}
