//! Whole reports, to compare what came page by page with.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use quillgate::Operation;
use serde_json::{Value, json};

use crate::analytics::ReportQuery;
use crate::data::{CallerStats, count_by_page};
use crate::feedback::matching_entries;
use crate::operation::find_report;
use crate::platform::Platform;
use crate::refusal::Refusal;

/// The page views, all rows at once.
pub(crate) async fn views(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Json<Value>, Refusal> {
    whole(&platform, Operation::ListPageViews, &pairs)
}

/// The report that is named, all rows at once.
pub(crate) async fn analytics(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Json<Value>, Refusal> {
    let operation = value(&pairs, "report").and_then(find_report);
    let operation = operation.ok_or(Refusal::InvalidRequest("no report has this name"))?;
    whole(&platform, operation, &pairs)
}

/// The same range and filters as the API's operation has.
fn whole(
    platform: &Platform,
    operation: Operation,
    pairs: &[(String, String)],
) -> Result<Json<Value>, Refusal> {
    let projects = &platform.options.projects;
    let project = value(pairs, "projectId")
        .or(projects.first().map(String::as_str))
        .filter(|project| projects.iter().any(|known| known == project))
        .ok_or(Refusal::UnknownProject)?;
    let query = ReportQuery::read(operation, pairs, platform.clock.now().day())?;
    let range = query.range;
    let sites = || platform.sites.lock();
    let report = match operation {
        Operation::ListPageViews => {
            let report = sites().views(project, range);
            json!({ "totals": report.totals, "views": report.rows })
        }
        Operation::ListVisitors => {
            let report = sites().visitors(project, range);
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
            return Err(Refusal::InvalidRequest("no report has this name"));
        }
    };
    Ok(Json(report))
}

fn value<'a>(pairs: &'a [(String, String)], wanted: &str) -> Option<&'a str> {
    let found = pairs.iter().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.as_str())
}
