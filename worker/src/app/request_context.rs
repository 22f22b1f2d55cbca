//! The context of a request. A [`RequestContext`] holds the request's id, caller, trace and
//! metrics. At the end of the request, the context adds the common header fields to the response
//! and writes the log line.

use std::rc::Rc;

use quillgate::{Millis, ProjectId, RateLimitPolicy};
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::{AnalyticsEngineDataPointBuilder, Env};

use crate::app::config::Config;
use crate::app::isolate::{with_dataset, with_reads};
use crate::app::log::LogEntry;
use crate::app::plan::Facts;
use crate::app::reply::Reply;
use crate::auth::caller::Caller;
use crate::auth::session;
use crate::auth::session::cookie::SessionId;
use crate::auth::session::sign_in;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::RequestHead;
use crate::http::response::{GatewayResponse, HeaderFields, common_headers};
use crate::http::trace::{Trace, continue_trace};
use crate::runtime::{http_date, log_entry, log_for_operator, make_response, now};
use crate::upstream::metrics::RequestMetrics;

/// The id, the facts, the trace and the metrics of a request.
pub struct RequestContext {
    /// The value of `X-Request-Id`.
    pub id: String,
    /// When the request arrived.
    pub started: Millis,
    pub is_head: bool,
    /// The facts that the plan has established.
    pub facts: Facts,
    pub trace: Trace,
    /// The caller's open session, if any.
    pub session: Option<SessionId>,
    /// The `RateLimit` header fields. Empty until the request is counted as a read of jobs.
    pub budget: HeaderFields,
    pub metrics: RequestMetrics,
    /// Whether a browser navigates to a route of a sign-in.
    is_sign_in: bool,
    common: HeaderFields,
}

impl RequestContext {
    pub fn new(head: &RequestHead, facts: Facts, started: Millis) -> Self {
        let (parent, state) = (head.header("traceparent"), head.header("tracestate"));
        let trace = continue_trace(parent, state, &head.uuid);
        Self {
            id: head.id.clone(),
            started,
            is_head: head.method == "HEAD",
            trace,
            session: None,
            budget: HeaderFields::default(),
            metrics: RequestMetrics::default(),
            is_sign_in: sign_in::is_navigation(head),
            common: common_headers(&head.id, &head.url, &facts.origin),
            facts,
        }
    }

    /// Returns the reply that reports a problem, and keeps the problem's message for the log. If a
    /// browser navigates to a route of a sign-in, the reply redirects to the page.
    pub fn refuse(&mut self, problem: &Problem) -> Reply {
        self.metrics.keep_operator_message(problem);
        if self.is_sign_in {
            return sign_in::redirect_after_failure(problem.kind).into();
        }
        GatewayResponse::problem(problem, &self.id).into()
    }

    /// Returns the caller.
    ///
    /// # Errors
    /// Returns a 500 problem if no caller is identified.
    pub fn caller(&self) -> Result<&Rc<Caller>, Problem> {
        self.facts.caller.as_ref().ok_or_else(Problem::internal)
    }

    /// Returns the project.
    ///
    /// # Errors
    /// Returns a 500 problem if the request has no project.
    pub fn project(&self) -> Result<&ProjectId, Problem> {
        self.facts.project.as_ref().ok_or_else(Problem::internal)
    }

    /// Makes the response and writes the log line.
    pub fn finish(self, env: &Env, reply: Reply) -> Response {
        let timing = self.metrics.server_timing();
        let mut headers = reply.headers.or(self.budget).or(self.common);
        // Clients correct their clocks by it. Only Cloudflare's network adds one itself.
        headers.set("date", http_date(now()));
        if let Some(timing) = timing {
            headers.set("server-timing", timing);
        }
        if self.facts.is_by_cookie {
            session::require_revalidation(&mut headers);
        }
        let upstream = self.metrics.upstream.as_ref();
        report(
            env,
            &LogEntry {
                request_id: &self.id,
                trace_id: &self.trace.trace_id,
                subject: self.facts.caller.as_deref().map(|caller| &*caller.subject),
                route: self.facts.route,
                project: self.facts.project.as_ref().map(ProjectId::as_str),
                status: reply.status,
                problem: reply.problem,
                upstream_status: upstream.and_then(|upstream| upstream.status),
                upstream_milliseconds: upstream.map(|upstream| upstream.milliseconds),
                cache: self.metrics.cache.as_deref(),
                budget_left: self.metrics.budget_left,
                milliseconds: now().since(self.started).0,
                operator: self.metrics.operator(),
            },
        );
        let body = if self.is_head {
            JsValue::NULL
        } else {
            reply.body
        };
        make_response(reply.status, &headers, &body)
    }
}

/// Counts a read of jobs against the caller's limits. Returns the `RateLimit` header fields.
///
/// # Errors
/// Returns a 429 problem if a limit is reached.
pub fn reserve_read(
    caller: &Caller,
    project: &ProjectId,
    config: &Config,
) -> Result<HeaderFields, Problem> {
    let (policy, limits) = (RateLimitPolicy::ReadJobs, &config.limits);
    let mut request = caller.budget_request(policy);
    // The names are unique, because a project id contains no line feed.
    let name_in_project = |name: &str| format!("{}\n{name}", project.as_str());
    request.caller = name_in_project(&request.caller);
    for ceiling in &mut request.ceilings {
        ceiling.name = name_in_project(&ceiling.name);
    }
    let (limit, window) = (limits.limit(policy), limits.window);
    let granted = with_reads(|reads| reads.reserve(&request, limit, window, now()))?;
    Ok(granted.fields)
}

/// Writes the log line of a finished request, and a data point if an Analytics Engine dataset is
/// bound.
///
/// | Data point | Values |
/// | --- | --- |
/// | index | project |
/// | blobs | route, problem, cache, subject |
/// | doubles | status, milliseconds, upstream milliseconds |
fn report(env: &Env, entry: &LogEntry<'_>) {
    log_entry(entry, entry.operator);
    with_dataset(env, |dataset| {
        let blobs = [
            entry.route,
            entry.problem.map(ProblemKind::as_str),
            entry.cache,
            entry.subject,
        ];
        let doubles = [
            f64::from(entry.status),
            double(entry.milliseconds),
            entry.upstream_milliseconds.map_or(0.0, double),
        ];
        let point = AnalyticsEngineDataPointBuilder::new()
            .indexes([entry.project.unwrap_or("none")])
            .blobs(blobs.map(|blob| blob.unwrap_or("")))
            .doubles(doubles)
            .build();
        if let Err(error) = dataset.write_data_point(&point) {
            log_for_operator(&error.to_string());
        }
    });
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
const fn double(number: u64) -> f64 {
    number as f64
}
