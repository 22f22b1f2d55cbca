//! The log: one line of JSON per request. It never contains a token, a key, a prompt or a query.

use serde::Serialize;

use crate::http::problem_kind::ProblemKind;
use crate::json;
use crate::upstream::metrics::RequestMetrics;

/// The contents of a request's log line.
#[derive(Debug)]
pub struct LogEntry<'a> {
    /// The value of `X-Request-Id`.
    pub request_id: &'a str,
    /// The trace id of the request: 32 hexadecimal digits.
    pub trace_id: &'a str,
    /// The `sub` of the caller's token, once the caller is identified.
    pub subject: Option<&'a str>,
    /// The pattern of the route, such as `/v2/agent/{projectId}/job/{id}`.
    pub route: Option<&'a str>,
    /// The id of the project, if the caller is authorized for it.
    pub project: Option<&'a str>,
    /// The HTTP status of the response.
    pub status: u16,
    /// The kind of problem, if the response is a problem.
    pub problem: Option<ProblemKind>,
    /// The upstream exchange, the cache status, the remaining budget and the message for operators.
    pub metrics: &'a RequestMetrics,
    /// The duration of the request in milliseconds.
    pub milliseconds: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogLine<'a> {
    request_id: &'a str,
    trace_id: &'a str,
    subject: Option<&'a str>,
    route: Option<&'a str>,
    project: Option<&'a str>,
    status: u16,
    problem: Option<&'static str>,
    upstream_status: Option<u16>,
    upstream_milliseconds: Option<u64>,
    cache: Option<&'a str>,
    budget_left: Option<u32>,
    milliseconds: u64,
    operator: Option<&'a str>,
}

impl LogEntry<'_> {
    /// Formats the entry as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let upstream = self.metrics.upstream.as_ref();
        let line = LogLine {
            request_id: self.request_id,
            trace_id: self.trace_id,
            subject: self.subject,
            route: self.route,
            project: self.project,
            status: self.status,
            problem: self.problem.map(ProblemKind::as_str),
            upstream_status: upstream.and_then(|upstream| upstream.status),
            upstream_milliseconds: upstream.map(|upstream| upstream.milliseconds),
            cache: self.metrics.cache.as_deref(),
            budget_left: self.metrics.budget_left,
            milliseconds: self.milliseconds,
            operator: self.metrics.operator(),
        };
        json::to_text(&line)
    }
}

/// The contents of the log line about the end of an export.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportEnd<'a> {
    /// The value of `X-Request-Id` in the response.
    pub request_id: &'a str,
    /// The number of rows written.
    pub export_rows: u64,
    /// The number of pages requested from the organization's object.
    pub export_requests: u64,
    /// `complete`, `cancelled`, or the kind of problem that ended the export.
    pub export_end: &'a str,
    /// The duration of the export in milliseconds.
    pub milliseconds: u64,
    /// A message for the operator about a required fix.
    pub operator: Option<&'a str>,
}

impl ExportEnd<'_> {
    /// Formats the end as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_text(self)
    }
}
