//! Handlers for the daily archive. The handlers return series, the list of page views and the
//! archive's status. They also estimate and begin backfills.

use quillgate::{Day, Millis};

use crate::analytics::archive;
use crate::analytics::archive::store::{ArchiveStore, StoredProject};
use crate::analytics::archive::views::{ViewsQuery, write_views};
use crate::analytics::archive::{SeriesQuery, StoredDay, read_day};
use crate::analytics::page::matches_etag;
use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::hash::fingerprint;
use crate::http::content::RequestValues;
use crate::http::problem::Problem;
use crate::http::response::{HeaderFields, JSON};
use crate::runtime::{HostError, now};

/// The freshness lifetime of a series whose days are all final: one day.
const FINAL_LIFETIME: Millis = Millis::from_seconds(86_400);

pub async fn read_series(pending: &PendingRequest, query: &SeriesQuery) -> Result<Reply, Problem> {
    let store = open_store(pending)?;
    let project = pending.context.project()?;
    let series = store.series(project.as_str(), query).await;
    let (mut stored, unread) = series.map_err(archive_failed)?;
    let mut query = query.clone();
    if let Some(day) = unread {
        query.end_before(day)?;
        stored.retain(|part| part.day < query.to);
    }
    let body = archive::write_series(&query, &stored);
    Ok(respond(pending, &query, &stored, &body))
}

pub async fn list_views(pending: &PendingRequest, query: &ViewsQuery) -> Result<Reply, Problem> {
    let store = open_store(pending)?;
    let project = pending.context.project()?;
    let days = query.site();
    // If a day is stored between the two queries, the response counts its pages but lists the day
    // as missing. Such a response is not final.
    let site = store.listed_days(project.as_str(), &days).await;
    let site = site.map_err(archive_failed)?;
    let pages = store.pages(project.as_str(), query).await;
    let pages = pages.map_err(archive_failed)?;
    let body = write_views(query, &site, pages);
    Ok(respond(pending, &days, &site, &body))
}

/// Builds a cacheable response. `stored` contains the stored days of `query`, in ascending order.
fn respond(
    pending: &PendingRequest,
    query: &SeriesQuery,
    stored: &[StoredDay],
    body: &str,
) -> Reply {
    let settings = &pending.config.analytics;
    let lifetime = if archive::is_final(query, stored, settings.archive.recheck_days) {
        FINAL_LIFETIME
    } else {
        settings.fresh_for
    };
    let etag = format!("\"{}\"", fingerprint(&[body]));
    let cache_control = format!("private, max-age={}", lifetime.0 / 1000);
    let headers = HeaderFields::default()
        .with("cache-control", cache_control)
        .with("etag", etag.clone())
        .with("vary", "Origin, Authorization");
    if matches_etag(pending.head.header("if-none-match"), &etag) {
        return Reply::empty(304, headers);
    }
    Reply::new(200, headers.with("content-type", JSON), body)
}

pub async fn read_status(pending: &PendingRequest) -> Result<Reply, Problem> {
    let stored = load(pending, &open_store(pending)?).await?;
    let settings = &pending.config.analytics.archive;
    let body = archive::write_status(&stored.record, stored.bytes, settings, now());
    Ok(Reply::json(200, &body))
}

/// Estimates a backfill that starts on this day, without beginning the backfill.
pub async fn estimate_backfill(pending: &PendingRequest, from: Day) -> Result<Reply, Problem> {
    let record = load(pending, &open_store(pending)?).await?.record;
    let settings = &pending.config.analytics.archive;
    let (_, body) = archive::plan_backfill(record, from, settings, now());
    Ok(Reply::json(200, &body))
}

pub async fn begin_backfill(
    pending: &PendingRequest,
    values: RequestValues,
) -> Result<Reply, Problem> {
    let call = values.parse_with_body(&pending.read_body().await?)?;
    let from = read_day(&call, "dateFrom")?;
    let store = open_store(pending)?;
    let record = load(pending, &store).await?.record;
    let settings = &pending.config.analytics.archive;
    let (first, body) = archive::plan_backfill(record, from, settings, now());
    let project = pending.context.project()?;
    let stored = store.set_first_day(project.as_str(), first).await;
    stored.map_err(archive_failed)?;
    Ok(Reply::json(202, &body))
}

async fn load(pending: &PendingRequest, store: &ArchiveStore) -> Result<StoredProject, Problem> {
    let settings = &pending.config.analytics.archive;
    let project = pending.context.project()?;
    let stored = store.load(project.as_str(), settings, now()).await;
    stored.map_err(archive_failed)
}

fn open_store(pending: &PendingRequest) -> Result<ArchiveStore, Problem> {
    ArchiveStore::open(&pending.env)?.ok_or_else(|| {
        let detail =
            "the gateway has no database for days: a D1 database has to be bound as ARCHIVE";
        Problem::archive_not_configured(detail)
    })
}

/// Returns the problem for a failed query. If a table or a column is missing, the problem is 501,
/// because the migrations have not been applied.
fn archive_failed(error: HostError) -> Problem {
    let message = error.to_string();
    if !["no such table", "no such column"]
        .iter()
        .any(|missing| message.contains(missing))
    {
        return error.into();
    }
    let detail =
        "the archive's database has no tables: `wrangler d1 migrations apply ARCHIVE` makes them";
    Problem::archive_not_configured(detail).with_operator(detail)
}
