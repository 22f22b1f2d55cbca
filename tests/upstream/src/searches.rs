//! Search terms of readers.

use axum::Json;
use quillgate::Operation;
use serde::Serialize;

use crate::analytics::ReportRequest;
use crate::api_error::ApiError;
use crate::cursor::CursorPage;
use crate::data::SearchTerm;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchPage {
    searches: Vec<SearchTerm>,
    total_searches: u64,
    next_cursor: Option<String>,
}

pub(crate) async fn list(request: ReportRequest) -> Result<Json<SearchPage>, ApiError> {
    let query = request.query(Operation::ListSearches)?;
    let report = request.sites().searches(&request.project, query.range);
    let list = query.list(Operation::ListSearches, &request.project);
    let count = report.searches.len();
    let page = CursorPage::page_opaque(&list, count, (query.limit(), query.cursor()))?;
    request.take_limit()?;
    let page_body = SearchPage {
        searches: report.searches[page.rows.clone()].to_vec(),
        total_searches: report.total_searches,
        next_cursor: request.next_cursor(&query, &page),
    };
    Ok(Json(page_body))
}
