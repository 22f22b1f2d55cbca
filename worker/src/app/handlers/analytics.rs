use quillgate::{Operation, RateLimitPolicy};

use crate::analytics::export::Export;
use crate::analytics::organization_stub::{OrganizationStub, ReportCall};
use crate::analytics::page::{CacheStatus, is_no_cache, matches_etag, slice_pages};
use crate::analytics::pages::Report;
use crate::analytics::query::ReportQuery;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::handlers::export::ExportStream;
use crate::app::isolate::{cache_report, find_report};
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::now;

pub async fn read_report(
    context: &mut Context,
    operation: Operation,
) -> Result<HostResponse, Problem> {
    let (call, settings) = (context.call()?.clone(), &context.config.analytics);
    let started = context.started;
    let query = ReportQuery::read(operation, call, context.project()?, settings, started)?;
    let cached = if is_no_cache(context.head.header("cache-control")) {
        None
    } else {
        find_report(&query, started)
    };
    let (report, cache, budget, now) = if let Some(report) = cached {
        context.metrics.cache = Some("hit".to_owned());
        let ttl = report.head.freshness.ttl(started);
        let cache = CacheStatus::Hit { ttl }.describe();
        (report, cache, HeaderFields::default(), started)
    } else {
        let call = report_call(context, query)?;
        let reply = OrganizationStub::new(&context.env)?.report(&call).await?;
        let cache = reply.metrics.cache.clone().unwrap_or_default();
        context.metrics = reply.metrics;
        if let Some(refusal) = reply.refusal {
            return Ok(refusal.into());
        }
        let query = &call.query;
        let slices = slice_pages(query.offset, query.limit);
        let pages: Vec<_> = reply.pages.into_iter().zip(slices).collect();
        let (report, now) = (Report::cut(operation, &pages)?, now());
        if report.head.freshness.is_fresh(now) {
            cache_report(query, &pages, &report, now);
        }
        (report, cache, reply.headers, now)
    };
    let headers = report.head.headers(&cache, now).or(budget);
    if matches_etag(context.head.header("if-none-match"), &report.head.etag) {
        return Ok(GatewayResponse::new(304, headers.without("content-type"), None).into());
    }
    Ok(HostResponse::new(200, headers, report.body.into()))
}

/// Responds after the first rows have arrived, so that a refusal can still set the status.
pub async fn export_report(
    context: &mut Context,
    operation: Operation,
) -> Result<HostResponse, Problem> {
    let report = operation.exported().ok_or_else(Problem::internal)?;
    let (call, settings) = (context.call()?.clone(), &context.config.analytics);
    let export = Export::new(report, call, context.project()?, settings, context.started)?;
    let headers = export.headers();
    let call = report_call(context, export.query.clone())?;
    let call = ReportCall {
        accepts_stale: false,
        // A `HEAD` request needs only the first page with rows, and `no-cache` fetches every page.
        checks_rest: !context.is_head() && !call.revalidate,
        ..call
    };
    let mut export = ExportStream::new(context, call, export)?;
    let started = export.fetch_chunk().await;
    context.metrics = std::mem::take(&mut export.metrics);
    let headers = headers.or(std::mem::take(&mut export.budget));
    match started {
        Err(refusal) => Ok(refusal.into()),
        Ok(()) if context.is_head() => Ok(GatewayResponse::new(200, headers, None).into()),
        Ok(()) => {
            let stream = export.open(&context.request.signal())?;
            Ok(HostResponse::new(200, headers, stream))
        }
    }
}

fn report_call(context: &Context, query: ReportQuery) -> Result<ReportCall, Problem> {
    Ok(ReportCall {
        ids: context.ids(),
        budget: context.caller()?.budget_request(RateLimitPolicy::Analytics),
        query,
        revalidate: is_no_cache(context.head.header("cache-control")),
        accepts_stale: true,
        checks_rest: false,
    })
}
