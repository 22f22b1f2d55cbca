use quillgate::Millis;

use crate::analytics::archive;
use crate::analytics::archive::store::{ArchiveStore, StoredProject};
use crate::analytics::archive::views::{ViewsQuery, write_views};
use crate::analytics::archive::{SeriesQuery, StoredDay, read_day};
use crate::analytics::page::matches_etag;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::hash::fingerprint;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields, JSON};
use crate::runtime::{HostError, now};

/// Of a series whose days are all final.
const FINAL_LIFETIME: Millis = Millis::from_seconds(86_400);

pub async fn read_series(context: &Context) -> Result<HostResponse, Problem> {
    let mut query = SeriesQuery::read(context.call()?)?;
    let (store, project) = open_store(context)?;
    let series = store.series(project, &query).await;
    let (mut stored, unread) = series.map_err(archive_failed)?;
    if let Some(day) = unread {
        query.end_before(day)?;
        stored.retain(|part| part.day < query.to);
    }
    let body = archive::write_series(&query, &stored);
    Ok(respond(context, &query, &stored, body))
}

pub async fn list_views(context: &Context) -> Result<HostResponse, Problem> {
    let query = ViewsQuery::read(context.call()?)?;
    let (store, project) = open_store(context)?;
    let days = query.site();
    // If a day is stored between the two queries, the response counts its pages but lists the day
    // as missing. Such a response is not final.
    let site = store.series(project, &days).await;
    let (site, _) = site.map_err(archive_failed)?;
    let pages = store.pages(project, &query).await;
    let body = write_views(&query, &site, pages.map_err(archive_failed)?);
    Ok(respond(context, &days, &site, body))
}

/// `stored` contains the stored days of `query`, in ascending order.
fn respond(
    context: &Context,
    query: &SeriesQuery,
    stored: &[StoredDay],
    body: String,
) -> HostResponse {
    let settings = &context.config.analytics;
    let lifetime = if archive::is_final(query, stored, settings.archive.recheck_days) {
        FINAL_LIFETIME
    } else {
        settings.fresh_for
    };
    let etag = format!("\"{}\"", fingerprint(&[&body]));
    let cache_control = format!("private, max-age={}", lifetime.0 / 1000);
    let headers = HeaderFields::default()
        .with("cache-control", cache_control)
        .with("etag", etag.clone())
        .with("vary", "Origin, Authorization");
    if matches_etag(context.head.header("if-none-match"), &etag) {
        return GatewayResponse::new(304, headers, None).into();
    }
    GatewayResponse::new(200, headers.with("content-type", JSON), Some(body)).into()
}

pub async fn read_status(context: &Context) -> Result<HostResponse, Problem> {
    let stored = load(context).await?;
    let settings = &context.config.analytics.archive;
    let body = archive::write_status(&stored.record, stored.bytes, settings, now());
    Ok(GatewayResponse::json(200, body).into())
}

pub async fn estimate_backfill(context: &Context) -> Result<HostResponse, Problem> {
    let from = read_day(context.call()?, "dateFrom")?;
    let record = load(context).await?.record;
    let settings = &context.config.analytics.archive;
    let (_, body) = archive::plan_backfill(record, from, settings, now());
    Ok(GatewayResponse::json(200, body).into())
}

pub async fn begin_backfill(context: &mut Context) -> Result<HostResponse, Problem> {
    let from = read_day(&context.read_call().await?, "dateFrom")?;
    let record = load(context).await?.record;
    let settings = &context.config.analytics.archive;
    let (first, body) = archive::plan_backfill(record, from, settings, now());
    let (store, project) = open_store(context)?;
    let stored = store.set_first_day(project, first).await;
    stored.map_err(archive_failed)?;
    Ok(GatewayResponse::json(202, body).into())
}

async fn load(context: &Context) -> Result<StoredProject, Problem> {
    let (store, project) = open_store(context)?;
    let settings = &context.config.analytics.archive;
    let stored = store.load(project, settings, now()).await;
    stored.map_err(archive_failed)
}

fn open_store(context: &Context) -> Result<(ArchiveStore, &str), Problem> {
    let store = ArchiveStore::open(&context.env)?.ok_or_else(|| {
        let detail =
            "the gateway has no database for days: a D1 database has to be bound as ARCHIVE";
        Problem::archive_not_configured(detail)
    })?;
    Ok((store, context.project()?.as_str()))
}

/// A table or a column is missing if the migrations have not been applied.
fn archive_failed(error: HostError) -> Problem {
    let message = error.to_string();
    if !message.contains("no such table") && !message.contains("no such column") {
        return error.into();
    }
    let detail =
        "the archive's database has no tables: `wrangler d1 migrations apply ARCHIVE` makes them";
    Problem::archive_not_configured(detail).with_operator(detail)
}
