//! Handlers of analytics reports and their exports.

use std::rc::Rc;

use quillgate::{Millis, Policy};

use crate::analytics::export::{ExportQuery, MAX_WAIT_SECONDS};
use crate::analytics::organization_stub::{ExportCall, OrganizationStub, ReportCall};
use crate::analytics::page::{CacheStatus, is_no_cache, matches_etag, split_into_pieces};
use crate::analytics::pages::{Page, ReportAnswer};
use crate::analytics::query::ReportQuery;
use crate::app::action::Action;
use crate::app::export::{CancelSignal, RunningExport};
use crate::app::isolate::{cache_report, find_report};
use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::app::request_context::RequestContext;
use crate::http::problem::Problem;
use crate::http::request_head::PackedHead;
use crate::http::response::HeaderFields;
use crate::jobs::events::parse_wait;
use crate::runtime::now;
use crate::upstream::metrics::RequestMetrics;

/// Answers from the isolate's cache, or returns the action that reads the report.
pub fn read_cached_report(
    context: &mut RequestContext,
    packed: &PackedHead<'_>,
    query: ReportQuery,
) -> Result<Reply, Action> {
    let now = context.started;
    let cached = (!revalidates(packed)).then(|| find_report(&query, now));
    let Some(answer) = cached.flatten() else {
        return Err(Action::ReadReport(query));
    };
    context.metrics.cache = Some("hit".to_owned());
    let ttl = answer.head.ttl(now);
    let cache = CacheStatus::Hit { ttl }.describe();
    let no_budget = HeaderFields::default();
    Ok(report_reply(packed, answer, &cache, no_budget, now))
}

/// Reads a report from the organization's object.
pub async fn read_report(
    pending: &mut PendingRequest,
    packed: &PackedHead<'_>,
    query: ReportQuery,
) -> Result<Reply, Problem> {
    let call = report_call(pending, packed, query, true)?;
    let read = async { OrganizationStub::new(&pending.env)?.report(&call).await };
    let reply = read.await.map_err(|error| pending.gate_failed(&error))?;
    pending.context.metrics = reply.metrics;
    let Some(found) = reply.pages else {
        let refusal = reply.refusal.ok_or_else(Problem::internal)?;
        return Ok(refusal.into());
    };
    let query = &call.query;
    let rows = std::iter::once(found.first).chain(found.second);
    let pieces = split_into_pieces(query.offset, query.limit);
    let pages: Vec<_> = rows.map(Page::from).zip(pieces).collect();
    let answer =
        ReportAnswer::cut(query.operation, &pages).map_err(|error| pending.gate_failed(&error))?;
    let now = now();
    if answer.head.is_fresh(now) {
        cache_report(query, &pages, &answer, now);
    }
    let budget = found.headers;
    Ok(report_reply(packed, answer, &found.cache, budget, now))
}

/// Starts an export. Its first rows arrive before the reply, so that a refusal has a status.
pub async fn export_report(
    pending: &mut PendingRequest,
    packed: &PackedHead<'_>,
    query: ExportQuery,
) -> Result<Reply, Problem> {
    let wait = parse_wait(packed.field("prefer")).map(|wait| wait.min(MAX_WAIT_SECONDS));
    let mut head = Vec::new();
    let mut headers = query.headers();
    if let Some(wait) = wait {
        headers.set("preference-applied", format!("wait={wait}"));
    }
    let mut export = open_export(pending, packed, query, wait.unwrap_or(0), &mut head)?;
    let started = export.next_chunk(&CancelSignal::default()).await;
    pending.context.metrics = std::mem::take(&mut export.metrics);
    let headers = headers.or(std::mem::take(&mut export.budget));
    match started {
        Err(refusal) => Ok(refusal.into()),
        Ok(_) if pending.context.is_head => Ok(Reply::empty(200, headers)),
        Ok(rows) => {
            let stream = export.into_stream(&head, &rows, &pending.request.signal());
            Ok(Reply {
                status: 200,
                headers,
                body: stream.map_err(|error| pending.gate_failed(&error))?.into(),
                problem: None,
            })
        }
    }
}

/// Returns an export before its first page. Writes the start of its body to `head`.
fn open_export(
    pending: &PendingRequest,
    packed: &PackedHead<'_>,
    mut query: ExportQuery,
    wait: u64,
    head: &mut Vec<u8>,
) -> Result<RunningExport, Problem> {
    let project = pending.project()?.clone();
    let started = pending.context.started;
    let first = query.next(&project, &pending.config.analytics, started)?;
    let first = first.ok_or_else(Problem::internal)?;
    query.begin(wait, head);
    Ok(RunningExport {
        env: pending.env.clone(),
        config: Rc::clone(&pending.config),
        project,
        call: ExportCall {
            report: report_call(pending, packed, first, false)?,
            format: query.format,
            skip: 0,
        },
        query,
        expires: pending.caller()?.expires,
        session: pending.context.session.clone(),
        started,
        requests: 0,
        pages: 0,
        metrics: RequestMetrics::default(),
        budget: HeaderFields::default(),
        prefetch: None,
        place: None,
        prefetches: !pending.context.is_head,
    })
}

fn report_call(
    pending: &PendingRequest,
    packed: &PackedHead<'_>,
    query: ReportQuery,
    takes_stale: bool,
) -> Result<ReportCall, Problem> {
    let caller = pending.caller()?;
    Ok(ReportCall {
        id: pending.context.id.clone(),
        traceparent: pending.context.trace.traceparent.clone(),
        tracestate: pending.context.tracestate.clone(),
        caller: caller.key(),
        quota: caller.quota.ceiling(Policy::Analytics),
        ceilings: caller.ceilings(Policy::Analytics),
        query,
        revalidate: revalidates(packed),
        takes_stale,
    })
}

fn revalidates(packed: &PackedHead<'_>) -> bool {
    is_no_cache(packed.field("cache-control"))
}

fn report_reply(
    packed: &PackedHead<'_>,
    answer: ReportAnswer,
    cache: &str,
    budget: HeaderFields,
    now: Millis,
) -> Reply {
    let headers = answer.head.headers(cache, now).or(budget);
    if matches_etag(packed.field("if-none-match"), &answer.head.etag) {
        return Reply::empty(304, headers.without("content-type"));
    }
    Reply {
        status: 200,
        headers,
        body: answer.body.into(),
        problem: None,
    }
}
