//! Feedback entries and their counts per page.

use axum::Json;
use quillgate::Operation;
use serde::Serialize;

use crate::analytics::{ReportQuery, ReportRequest};
use crate::api_error::ApiError;
use crate::cursor::CursorPage;
use crate::data::{Entry, PageFeedback, count_by_page};
use crate::platform::Platform;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeedbackPage {
    feedback: Vec<Entry>,
    next_cursor: Option<String>,
    has_more: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeedbackByPage {
    feedback: Vec<PageFeedback>,
    has_more: bool,
}

pub(crate) async fn list(request: ReportRequest) -> Result<Json<FeedbackPage>, ApiError> {
    let query = request.query(Operation::ListFeedback)?;
    let entries = matching_entries(&request.platform, &request.project, &query);
    let list = query.list(Operation::ListFeedback, &request.project);
    let page = CursorPage::page_opaque(&list, entries.len(), (query.limit(), query.cursor()))?;
    request.take_limit()?;
    let page_body = FeedbackPage {
        feedback: entries[page.rows.clone()].to_vec(),
        next_cursor: request.next_cursor(&query, &page),
        has_more: page.next.is_some(),
    };
    Ok(Json(page_body))
}

pub(crate) async fn list_by_page(request: ReportRequest) -> Result<Json<FeedbackByPage>, ApiError> {
    let query = request.query(Operation::GetFeedbackByPage)?;
    request.take_limit()?;
    let mut pages = count_by_page(&matching_entries(
        &request.platform,
        &request.project,
        &query,
    ));
    let has_more = pages.len() > query.limit();
    pages.truncate(query.limit());
    Ok(Json(FeedbackByPage {
        feedback: pages,
        has_more,
    }))
}

/// All entries that match the range and filters of a query, newest first.
pub(crate) fn matching_entries(
    platform: &Platform,
    project: &str,
    query: &ReportQuery,
) -> Vec<Entry> {
    let all = platform.sites.lock().feedback(project, query.range);
    let matching = |entry: &&Entry| entry.matches(query.source(), query.statuses());
    all.iter().filter(matching).cloned().collect()
}
