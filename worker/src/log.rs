//! The log, one line of JSON for each request, and the gateway's health as operators see it. Never
//! a token, a key, a prompt or a query.

use serde::{Deserialize, Serialize};

use crate::http::problem::ProblemKind;
use crate::json;
use crate::upstream::breaker;
#[cfg(doc)]
use quillgate::Policy;

/// What is known about an exchange with the upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeMetrics {
    /// The upstream's status; `None` when it did not answer.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// What the operator has to fix.
    pub operator: Option<String>,
}

/// What is known about a request apart from its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RequestMetrics {
    /// The exchange with the upstream, if there was one.
    pub upstream: Option<ExchangeMetrics>,
    /// `Cache-Status` after the cache's name.
    pub cache: Option<String>,
    /// Slots left in the budget.
    pub budget_left: Option<u32>,
    /// What the operator has to fix.
    pub operator: Option<String>,
}

impl RequestMetrics {
    /// What the operator has to fix, in the gateway or with the upstream's key.
    #[must_use]
    pub fn operator(&self) -> Option<&str> {
        let upstream = self.upstream.as_ref();
        self.operator
            .as_deref()
            .or_else(|| upstream?.operator.as_deref())
    }

    /// `Server-Timing`: how much of the time the upstream took.
    #[must_use]
    pub fn server_timing(&self) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        Some(format!("upstream;dur={}", upstream.milliseconds))
    }
}

/// A request that has been answered.
#[derive(Debug)]
pub struct LogEntry<'a> {
    /// The request's id.
    pub request_id: &'a str,
    /// The trace that it belongs to.
    pub trace_id: &'a str,
    /// The caller: the token's `sub`.
    pub subject: Option<&'a str>,
    /// The route's pattern.
    pub route: Option<&'a str>,
    /// The project.
    pub project: Option<&'a str>,
    /// The status of the answer.
    pub status: u16,
    /// The kind of problem, when the answer is one.
    pub problem: Option<ProblemKind>,
    /// What else is known about it.
    pub metrics: &'a RequestMetrics,
    /// How long the request took, in milliseconds.
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
    /// The entry as a line of JSON.
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

/// Formats a line that is only for the operator.
#[must_use]
pub fn format_operator_line(message: &str) -> String {
    json::to_text(&serde_json::json!({ "operator": message }))
}

/// The end of an export.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportEnd<'a> {
    /// The request's id.
    pub request_id: &'a str,
    /// How many rows were written.
    pub export_rows: u64,
    /// How often the organisation's object was asked for a page.
    pub export_requests: u64,
    /// `complete`, `cancelled`, or the kind of the problem that ended it.
    pub export_end: &'a str,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// What the operator has to fix.
    pub operator: Option<&'a str>,
}

impl ExportEnd<'_> {
    /// The end as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_text(self)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GivenUpWebhook<'a> {
    webhook: &'a str,
    given_up: bool,
    status: Option<u16>,
}

/// Formats a line for a webhook that was not delivered and is not sent again; `status` is the receiver's
/// last one, `None` when it did not answer.
#[must_use]
pub fn format_given_up_webhook(id: &str, status: Option<u16>) -> String {
    json::to_text(&GivenUpWebhook {
        webhook: id,
        given_up: true,
        status,
    })
}

/// Formats a line for a webhook that is not sent, since the configuration no longer allows where it
/// would go; an address may be a secret, and is not named.
#[must_use]
pub fn format_dropped_webhook(id: &str) -> String {
    format_operator_line(
        &[
            "webhook ",
            id,
            " was dropped: the configuration no longer allows its address",
        ]
        .concat(),
    )
}

/// Formats a line for a job whose end nobody will learn, since the upstream does not know it.
#[must_use]
pub fn format_lost_job(id: &str) -> String {
    format_operator_line(
        &[
            "job ",
            id,
            " has been unknown to the upstream for 15 minutes: its webhook says so and waits no longer",
        ]
        .concat(),
    )
}

/// The state of a budget.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetHealth {
    /// How many requests any window may hold.
    pub limit: u32,
    /// How many slots are free.
    pub left: u32,
    /// Until when the upstream refuses requests, in milliseconds since the Unix epoch.
    pub closed_until: Option<u64>,
}

/// The health of the organisation's object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrgHealth {
    /// The breaker's state.
    pub breaker: breaker::State,
    /// The budgets by name.
    pub budgets: OrgBudgets,
    /// How many pages of analytics are kept.
    pub cached_pages: u64,
    /// How often isolates have asked for an issuer's keys since the object was opened.
    pub key_set_calls: u64,
}

/// The organisation's budgets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct OrgBudgets {
    /// [`Policy::Analytics`].
    pub analytics: BudgetHealth,
}

/// The health of a project's object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectHealth {
    /// The breaker's state.
    pub breaker: breaker::State,
    /// The budgets by name.
    pub budgets: ProjectBudgets,
    /// How many sockets watch changes.
    pub watchers: u64,
    /// How many webhooks have yet to be delivered.
    pub webhooks_waiting: u64,
    /// The number of alarms since the object was last started.
    pub alarms: u64,
}

/// A project's budgets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProjectBudgets {
    /// [`Policy::CreateJob`].
    pub create_job: BudgetHealth,
    /// [`Policy::SendMessage`].
    pub send_message: BudgetHealth,
}

/// The gateway's health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health<'a> {
    status: &'static str,
    organisation: OrgHealth,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectHealth>,
    trusted_issuers: Vec<&'a str>,
}

impl<'a> Health<'a> {
    /// The gateway's health: `degraded` while a breaker is open.
    #[must_use]
    pub fn new(
        organisation: OrgHealth,
        project: Option<ProjectHealth>,
        trusted_issuers: Vec<&'a str>,
    ) -> Self {
        let breakers = [
            Some(organisation.breaker),
            project.as_ref().map(|project| project.breaker),
        ];
        let is_open = breakers.contains(&Some(breaker::State::Open));
        Self {
            status: if is_open { "degraded" } else { "ok" },
            organisation,
            project,
            trusted_issuers,
        }
    }

    /// The health as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_text(self)
    }
}

/// A run of the daily archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArchiveRun {
    /// How many requests it sent; a repetition is not counted.
    pub requests: u64,
    /// How many of them failed.
    pub failures: u64,
    /// How many days it completed.
    pub days: u64,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

impl ArchiveRun {
    /// The run as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self {
            requests,
            failures,
            days,
            milliseconds,
        } = self;
        json::to_text(&serde_json::json!({
            "archive": {
                "requests": requests,
                "failures": failures,
                "days": days,
                "milliseconds": milliseconds,
            },
        }))
    }
}
