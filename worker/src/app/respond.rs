use quillgate::{Millis, ProjectId};
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::{AnalyticsEngineDataPointBuilder, Env};

use crate::app::admission::Facts;
use crate::app::handlers::HostResponse;
use crate::app::isolate::with_dataset;
use crate::app::log::LogEntry;
use crate::auth::session::sign_in;
use crate::http::not_found_page;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::RequestHead;
use crate::http::response::{GatewayResponse, common_headers};
use crate::runtime::{log_entry, log_for_operator, make_response, now, to_date, to_number};
use crate::upstream::metrics::RequestMetrics;

/// Writes the log line, and a data point if a dataset is bound: see `ANALYTICS` in
/// `docs/operate/logs.md`.
pub fn respond(
    env: &Env,
    head: &RequestHead,
    started: Millis,
    facts: &Facts,
    mut metrics: RequestMetrics,
    answer: Result<HostResponse, Problem>,
) -> Response {
    let response = answer.unwrap_or_else(|problem| {
        metrics.keep_operator_message(&problem);
        refuse(&problem, head, facts.route).into()
    });
    let common = common_headers(&head.id, &head.url, &facts.origin);
    let mut headers = response.headers.or(facts.budget.clone()).or(common);
    // Clients correct their clocks by it. Only Cloudflare's network adds one itself.
    headers.set("date", String::from(to_date(now()).to_utc_string()));
    if let Some(timing) = metrics.server_timing() {
        headers.set("server-timing", timing);
    }
    let cache_control = headers.get("cache-control").unwrap_or("no-store");
    if facts.is_by_cookie && !cache_control.starts_with("no-store") {
        // The session may have ended meanwhile, or another user may have signed in.
        headers.set("cache-control", "private, no-cache");
    }
    let upstream = metrics.upstream.as_ref();
    let entry = LogEntry {
        request_id: &head.id,
        trace_id: &head.trace.trace_id,
        subject: facts.caller.as_deref().map(|caller| &*caller.subject),
        route: facts.route,
        project: facts.project.as_ref().map(ProjectId::as_str),
        status: response.status,
        problem: response.problem,
        upstream_status: upstream.and_then(|upstream| upstream.status),
        upstream_milliseconds: upstream.map(|upstream| upstream.milliseconds),
        cache: metrics.cache.as_deref(),
        budget_left: metrics.budget_left,
        milliseconds: now().since(started).0,
        operator: metrics.operator(),
    };
    log_entry(&entry, entry.operator);
    write_data_point(env, &entry);
    let body = if head.method == "HEAD" {
        JsValue::NULL
    } else {
        response.body
    };
    make_response(response.status, &headers, &body)
}

/// A browser that navigates is redirected to the page by a route of a sign-in, and sees a page for
/// an unknown path.
fn refuse(problem: &Problem, head: &RequestHead, route: Option<&str>) -> GatewayResponse {
    if sign_in::is_navigation(head) {
        return sign_in::redirect_after_failure(problem.kind);
    }
    if route.is_none() && not_found_page::applies(problem, head) {
        return not_found_page::response();
    }
    GatewayResponse::problem(problem, &head.id)
}

fn write_data_point(env: &Env, entry: &LogEntry<'_>) {
    with_dataset(env, |dataset| {
        let problem = entry.problem.map(ProblemKind::as_str);
        let blobs = [entry.route, problem, entry.cache, entry.subject];
        let doubles = [
            f64::from(entry.status),
            to_number(entry.milliseconds),
            entry.upstream_milliseconds.map_or(0.0, to_number),
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
