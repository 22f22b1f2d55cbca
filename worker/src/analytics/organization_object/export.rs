//! Exports: writes the rows of a page in the requested format.

use std::rc::Rc;

use js_sys::{JsString, Uint8Array};
use quillgate::Method;
use quillgate::columns::columns;
use quillgate::export::{PageEnd, RowWriter};

use crate::analytics::organization_object::Organization;
use crate::analytics::organization_object::fetch::Tagging;
use crate::analytics::organization_object::report::refuse;
use crate::analytics::organization_stub::{ExportCall, ExportPage, ExportReply};
use crate::analytics::page::PAGE_ROWS;
use crate::http::response::GatewayResponse;
use crate::runtime::{HostResult, encode_text, now};
use crate::upstream::failure::classify_malformed;
use crate::upstream::metrics::RequestMetrics;

impl Organization {
    /// Returns the rows of an export's next page.
    pub(super) async fn export(self: Rc<Self>, call: ExportCall) -> HostResult<ExportReply> {
        let number = call.report.query.offset / PAGE_ROWS;
        let result = self.page(&call.report, number, Tagging::Later).await?;
        let mut metrics = RequestMetrics {
            upstream: result.upstream,
            budget_left: result.budget_left,
            ..RequestMetrics::default()
        };
        let page = match result.outcome {
            Ok((page, status)) => {
                metrics.cache = Some(status.describe());
                write_page(&call, &page.text).ok_or_else(|| classify_malformed(Method::Get).problem)
            }
            Err(problem) => Err(problem),
        };
        let (page, refusal) = match page {
            Ok(page) => (Some(page), None),
            Err(problem) => {
                let refusal = refuse(&problem, &call.report.id, result.headers.clone());
                (None, Some(refusal))
            }
        };
        Ok(ExportReply {
            page,
            refusal,
            headers: result.headers,
            metrics,
        })
    }

    /// Holds a place for an export that waits, or returns the refusal.
    pub(super) fn hold_export(&self, export: &str, caller: &str) -> Option<GatewayResponse> {
        let limits = self.settings.waiting_exports;
        let mut exports = self.waiting_exports.borrow_mut();
        let refused = exports.hold(export, caller, limits, now()).err();
        refused.map(|problem| GatewayResponse::problem(&problem, export))
    }
}

/// Writes the rows of a page, except those that the export skips. Returns `None` if a row does not
/// match its operation's declaration.
fn write_page(call: &ExportCall, text: &JsString) -> Option<ExportPage> {
    let operation = call.report.query.operation;
    let rows_name = operation.declaration().pagination.rows().unwrap_or("");
    let page = String::from_utf8(encode_text(text)).ok()?;
    let writer = RowWriter::new(call.format, &columns(operation));
    let mut written = Vec::new();
    let PageEnd {
        rows,
        has_more,
        next_cursor,
    } = writer
        .push_rows(&page, rows_name, call.skip, &mut written)
        .ok()?;
    Some(ExportPage {
        text: Uint8Array::from(&written[..]),
        rows,
        has_more,
        next_cursor,
    })
}
