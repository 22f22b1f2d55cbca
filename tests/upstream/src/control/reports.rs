//! Full reports, which tests compare with the rows of paged requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use quillgate::Operation;
use serde::Serialize;
use serde_json::{Value, json};

use crate::analytics::ReportQuery;
use crate::api_error::ApiError;
use crate::data::{CallerStats, count_by_page};
use crate::feedback::matching_entries;
use crate::operation::find_report;
use crate::platform::Platform;

/// The page views with all rows.
pub(crate) async fn views(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Json<Value>, ApiError> {
    full_report(&platform, Operation::ListPageViews, &pairs)
}

/// The named report with all rows.
pub(crate) async fn analytics(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Json<Value>, ApiError> {
    let operation = value(&pairs, "report").and_then(find_report);
    let operation = operation.ok_or(ApiError::InvalidRequest("no report has this name"))?;
    full_report(&platform, operation, &pairs)
}

/// The rows of the named list, one per line, with the same JSON as in its pages.
pub(crate) async fn rows(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, ApiError> {
    let operation = value(&pairs, "report").and_then(find_report);
    let operation = operation.ok_or(ApiError::InvalidRequest("no report has this name"))?;
    let (project, query) = read(&platform, operation, &pairs)?;
    let today = platform.clock.now().day();
    let (project, range) = (project.as_str(), query.range);
    let sites = || platform.sites.lock();
    let lines = match operation {
        Operation::ListPageViews => lines(&sites().views(project, range, today).rows),
        Operation::ListVisitors => lines(&sites().visitors(project, range, today).rows),
        Operation::ListFeedback => lines(&matching_entries(&platform, project, &query)),
        Operation::ListSearches => lines(&sites().searches(project, range).searches),
        Operation::ListConversations => lines(&sites().conversations(project, range)),
        _ => return Err(ApiError::InvalidRequest("no list has this name")),
    };
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
}

fn lines<T: Serialize>(rows: &[T]) -> String {
    let line = |row: &T| serde_json::to_string(row).unwrap_or_default() + "\n";
    rows.iter().map(line).collect()
}

/// The requested project and query.
fn read(
    platform: &Platform,
    operation: Operation,
    pairs: &[(String, String)],
) -> Result<(String, ReportQuery), ApiError> {
    let projects = &platform.options.projects;
    let project = value(pairs, "projectId")
        .or(projects.first().map(String::as_str))
        .filter(|project| projects.iter().any(|known| known == project))
        .ok_or(ApiError::UnknownProject)?;
    let query = ReportQuery::read(operation, pairs, platform.clock.now().day())?;
    Ok((project.to_owned(), query))
}

/// The report of an operation, with the same range and filters as in the API.
fn full_report(
    platform: &Platform,
    operation: Operation,
    pairs: &[(String, String)],
) -> Result<Json<Value>, ApiError> {
    let (project, query) = read(platform, operation, pairs)?;
    let today = platform.clock.now().day();
    let (project, range) = (project.as_str(), query.range);
    let sites = || platform.sites.lock();
    let report = match operation {
        Operation::ListPageViews => {
            let report = sites().views(project, range, today);
            json!({ "totals": report.totals, "views": report.rows })
        }
        Operation::ListVisitors => {
            let report = sites().visitors(project, range, today);
            json!({ "totals": report.totals, "visitors": report.rows })
        }
        Operation::ListFeedback => {
            json!({ "feedback": matching_entries(platform, project, &query) })
        }
        Operation::GetFeedbackByPage => {
            let entries = matching_entries(platform, project, &query);
            json!({ "feedback": count_by_page(&entries) })
        }
        Operation::ListSearches => json!(*sites().searches(project, range)),
        Operation::ListConversations => {
            json!({ "conversations": *sites().conversations(project, range) })
        }
        Operation::GetCallerStats => {
            json!(CallerStats::of(&sites().conversations(project, range)))
        }
        _ => {
            return Err(ApiError::InvalidRequest("no report has this name"));
        }
    };
    Ok(Json(report))
}

fn value<'a>(pairs: &'a [(String, String)], expected: &str) -> Option<&'a str> {
    let found = pairs.iter().find(|(name, _)| name == expected);
    found.map(|(_, value)| value.as_str())
}
