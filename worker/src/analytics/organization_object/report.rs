//! Collects the pages that contain the rows of a requested report.

use std::rc::Rc;

use crate::analytics::organization_object::Organization;
use crate::analytics::organization_stub::{ReportCall, ReportReply};
use crate::analytics::page::{CacheStatus, slice_pages};
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::HostResult;

impl Organization {
    /// Returns a report from cached pages or from the upstream.
    pub(super) async fn report(self: Rc<Self>, call: ReportCall) -> HostResult<ReportReply> {
        let mut reply = ReportReply::default();
        let mut cache: Option<CacheStatus> = None;
        for slice in slice_pages(call.query.offset, call.query.limit) {
            let result = self.page(&call, slice.number).await?;
            if let Some(exchange) = result.upstream {
                reply.metrics.add_exchange(exchange);
            }
            reply.metrics.budget_left = result.budget_left.or(reply.metrics.budget_left);
            reply.headers = result.headers.or(reply.headers);
            let (page, status) = match result.outcome {
                Ok(found) => found,
                Err(problem) => {
                    reply.refusal = Some(refuse(&problem, &call.id, reply.headers.clone()));
                    return Ok(reply);
                }
            };
            cache = Some(match cache {
                Some(earlier) => earlier.worse(status),
                None => status,
            });
            let is_last = !page.head.has_more;
            reply.pages.push(page.into());
            if is_last {
                break;
            }
        }
        reply.metrics.cache = cache.map(|status| status.describe());
        Ok(reply)
    }
}

/// Builds the error response for a page that is not available, with the header fields of the
/// budget.
fn refuse(problem: &Problem, id: &str, headers: HeaderFields) -> GatewayResponse {
    let response = GatewayResponse::problem(problem, id);
    let headers = response.headers.or(headers);
    GatewayResponse {
        headers,
        ..response
    }
}
