//! The log lines of requests and of the ends of exports. They never contain a token, a key, a
//! prompt or a query.

use serde::Serialize;

use crate::http::problem_kind::ProblemKind;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry<'a> {
    pub request_id: &'a str,
    /// W3C Trace Context: 32 hexadecimal digits.
    pub trace_id: &'a str,
    /// The `sub` of the caller's token.
    pub subject: Option<&'a str>,
    /// The pattern, such as `/v2/agent/{projectId}/job/{id}`.
    pub route: Option<&'a str>,
    pub project: Option<&'a str>,
    pub status: u16,
    pub problem: Option<ProblemKind>,
    pub upstream_status: Option<u16>,
    pub upstream_milliseconds: Option<u64>,
    /// `Cache-Status` after the cache's name.
    pub cache: Option<&'a str>,
    pub budget_left: Option<u32>,
    pub milliseconds: u64,
    pub operator: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportEnd<'a> {
    pub request_id: &'a str,
    pub export_rows: u64,
    /// Refusals count too.
    pub export_requests: u64,
    /// `complete`, `cancelled`, or the kind of problem.
    pub export_end: &'a str,
    pub milliseconds: u64,
    pub operator: Option<&'a str>,
}
