//! Reports: joins the pages that contain the requested rows.

use std::rc::Rc;

use crate::analytics::organization_object::Organization;
use crate::analytics::organization_stub::{ReportCall, ReportPages, ReportReply};
use crate::analytics::page::{CacheStatus, slice_pages};
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::{HostError, HostResult};
use crate::upstream::metrics::RequestMetrics;

impl Organization {
    /// Returns a report from cached pages or from the upstream.
    pub(super) async fn report(self: Rc<Self>, call: ReportCall) -> HostResult<ReportReply> {
        let (mut first, mut second) = (None, None);
        let mut headers = HeaderFields::default();
        let mut metrics = RequestMetrics::default();
        let mut cache: Option<CacheStatus> = None;
        for slice in slice_pages(call.query.offset, call.query.limit) {
            let result = self.page(&call, slice.number).await?;
            metrics.upstream = result.upstream;
            metrics.budget_left = result.budget_left;
            headers = result.headers.or(headers);
            let (page, status) = match result.outcome {
                Ok(found) => found,
                Err(problem) => {
                    return Ok(ReportReply {
                        pages: None,
                        refusal: Some(refuse(&problem, &call.id, headers)),
                        metrics,
                    });
                }
            };
            cache = Some(match cache {
                Some(earlier) => earlier.worse(status),
                None => status,
            });
            let is_last = !page.head.has_more;
            // A report has at most as many rows as a page, so it spans at most two pages.
            if first.is_none() {
                first = Some(page.into());
            } else {
                second = Some(page.into());
            }
            if is_last {
                break;
            }
        }
        let (Some(first), Some(cache)) = (first, cache) else {
            return Err(HostError::new("an answer without a page"));
        };
        let cache = cache.describe();
        metrics.cache = Some(cache.clone());
        Ok(ReportReply {
            refusal: None,
            pages: Some(ReportPages {
                first,
                second,
                cache,
                headers,
            }),
            metrics,
        })
    }
}

/// Builds the response for a missing page, with the header fields of the budget.
fn refuse(problem: &Problem, id: &str, headers: HeaderFields) -> GatewayResponse {
    let response = GatewayResponse::problem(problem, id);
    let headers = response.headers.or(headers);
    GatewayResponse {
        headers,
        ..response
    }
}
