//! Handlers for analytics reports and their exports. A report comes from the isolate's cache if
//! possible, otherwise from the organization's object.

use quillgate::{Millis, RateLimitPolicy};

use crate::analytics::export::Export;
use crate::analytics::organization_stub::{OrganizationStub, ReportCall};
use crate::analytics::page::{CacheStatus, is_no_cache, matches_etag, slice_pages};
use crate::analytics::pages::Report;
use crate::analytics::query::ReportQuery;
use crate::app::action::Action;
use crate::app::export::RunningExport;
use crate::app::isolate::{cache_report, find_report};
use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::app::request_context::RequestContext;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::HeaderFields;
use crate::runtime::now;

/// Returns the report from the isolate's cache. If the report is not cached, or the caller bypasses
/// the cache, returns the action that reads the report.
pub fn read_cached_report(
    context: &mut RequestContext,
    head: &RequestHead,
    query: ReportQuery,
) -> Result<Reply, Action> {
    let now = context.started;
    let revalidate = is_no_cache(head.header("cache-control"));
    let cached = (!revalidate).then(|| find_report(&query, now));
    let Some(answer) = cached.flatten() else {
        return Err(Action::ReadReport(query));
    };
    context.metrics.cache = Some("hit".to_owned());
    let ttl = answer.head.freshness.ttl(now);
    let cache = CacheStatus::Hit { ttl }.describe();
    let no_budget = HeaderFields::default();
    Ok(report_reply(head, answer, &cache, no_budget, now))
}

/// Reads a report from the organization's object, and caches a fresh report in the isolate.
pub async fn read_report(
    pending: &mut PendingRequest,
    query: ReportQuery,
) -> Result<Reply, Problem> {
    let call = report_call(pending, query)?;
    let reply = OrganizationStub::new(&pending.env)?.report(&call).await?;
    let cache = reply.metrics.cache.clone().unwrap_or_default();
    pending.context.metrics = reply.metrics;
    if let Some(refusal) = reply.refusal {
        return Ok(refusal.into());
    }
    let query = &call.query;
    let slices = slice_pages(query.offset, query.limit);
    let pages: Vec<_> = reply.pages.into_iter().zip(slices).collect();
    let answer = Report::cut(query.operation, &pages)?;
    let now = now();
    if answer.head.freshness.is_fresh(now) {
        cache_report(query, &pages, &answer, now);
    }
    Ok(report_reply(
        &pending.head,
        answer,
        &cache,
        reply.headers,
        now,
    ))
}

/// Starts an export. Replies after the first rows have arrived, or at the end of an export without
/// rows, so that a refusal can still set the status.
pub async fn export_report(pending: &mut PendingRequest, export: Export) -> Result<Reply, Problem> {
    let headers = export.headers();
    let call = ReportCall {
        accepts_stale: false,
        // A `HEAD` request needs only the first page with rows.
        checks_rest: !pending.context.is_head,
        ..report_call(pending, export.query.clone())?
    };
    let mut export = RunningExport::new(pending, call, export)?;
    let started = export.fetch_chunk().await;
    pending.context.metrics = std::mem::take(&mut export.metrics);
    let headers = headers.or(std::mem::take(&mut export.budget));
    match started {
        Err(refusal) => Ok(refusal.into()),
        Ok(()) if pending.context.is_head => Ok(Reply::empty(200, headers)),
        Ok(()) => {
            let stream = export.into_stream(&pending.request.signal())?;
            Ok(Reply::new(200, headers, stream))
        }
    }
}

fn report_call(pending: &PendingRequest, query: ReportQuery) -> Result<ReportCall, Problem> {
    let caller = pending.context.caller()?;
    Ok(ReportCall {
        call: pending.call()?,
        budget: caller.budget_request(RateLimitPolicy::Analytics),
        query,
        revalidate: is_no_cache(pending.head.header("cache-control")),
        accepts_stale: true,
        checks_rest: false,
    })
}

fn report_reply(
    head: &RequestHead,
    answer: Report,
    cache: &str,
    budget: HeaderFields,
    now: Millis,
) -> Reply {
    let headers = answer.head.headers(cache, now).or(budget);
    if matches_etag(head.header("if-none-match"), &answer.head.etag) {
        return Reply::empty(304, headers.without("content-type"));
    }
    Reply::new(200, headers, answer.body)
}
