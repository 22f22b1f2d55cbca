//! Page views.

use axum::Json;
use quillgate::Operation;
use serde::Serialize;

use crate::analytics::ReportRequest;
use crate::api_error::ApiError;
use crate::data::{Row, Traffic};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ViewPage {
    totals: Traffic,
    views: Vec<Row>,
    has_more: bool,
}

pub(crate) async fn list(request: ReportRequest) -> Result<Json<ViewPage>, ApiError> {
    let query = request.query(Operation::ListPageViews)?;
    request.take_limit()?;
    let today = request.today();
    let report = request.sites().views(&request.project, query.range, today);
    let (rows, has_more) = report.page(query.offset(), query.limit());
    Ok(Json(ViewPage {
        totals: report.totals,
        views: rows.to_vec(),
        has_more,
    }))
}
