//! Visitors per page.

use axum::Json;
use quillgate::Operation;
use serde::Serialize;

use crate::analytics::ReportRequest;
use crate::api_error::ApiError;
use crate::data::{Row, Traffic};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitorPage {
    totals: Traffic,
    visitors: Vec<Row>,
    has_more: bool,
}

pub(crate) async fn list(request: ReportRequest) -> Result<Json<VisitorPage>, ApiError> {
    let query = request.query(Operation::ListVisitors)?;
    request.take_limit()?;
    let today = request.today();
    let report = request
        .sites()
        .visitors(&request.project, query.range, today);
    let (rows, has_more) = report.page(query.offset(), query.limit());
    Ok(Json(VisitorPage {
        totals: report.totals,
        visitors: rows.to_vec(),
        has_more,
    }))
}
