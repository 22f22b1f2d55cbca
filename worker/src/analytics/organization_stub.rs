//! The stub of the organization's Durable Object. The Worker calls the object's methods through the
//! stub. This module also defines the messages of these methods.

use js_sys::Promise;
use quillgate::RateLimitPolicy;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::analytics::health::OrganizationHealth;
use crate::analytics::pages::Page;
use crate::analytics::query::ReportQuery;
use crate::budget::reservation::BudgetRequest;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::{HostResult, durable_objects, receive, send_back};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::RequestIds;

/// The message that requests a report from the object.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportCall {
    /// The ids of the caller's request.
    pub ids: RequestIds,
    /// The reservation to make for each request to the upstream.
    pub budget: BudgetRequest,
    /// The report and the requested rows.
    pub query: ReportQuery,
    /// Whether to bypass the cache (`Cache-Control: no-cache`).
    pub revalidate: bool,
    /// Whether the caller accepts a stale page instead of an error.
    pub accepts_stale: bool,
    /// Whether to check that cached pages are up to date: if one of the following pages is not cached,
    /// fetch that page first. Exports do so at their start, because they cannot replace rows that
    /// they have sent.
    pub checks_rest: bool,
}

/// The pages of a report, or the response that refuses the request.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub struct ReportReply {
    /// The pages that contain the rows, at most two. The pages are complete, so that the isolate
    /// can cache the pages and cut other reports from them.
    pub pages: Vec<Page>,
    /// The response that refuses the report. `None` if `pages` contains the rows.
    pub refusal: Option<GatewayResponse>,
    /// `RateLimit-Policy` and `RateLimit`, if the request checked the budget.
    pub headers: HeaderFields,
    /// The metrics of this request, which the log and `Server-Timing` report.
    pub metrics: RequestMetrics,
}

#[wasm_bindgen]
extern "C" {
    type RawOrganizationStub;

    #[cfg(feature = "trap-route")]
    #[wasm_bindgen(method, js_name = trap)]
    fn trap(this: &RawOrganizationStub) -> Promise;
    #[wasm_bindgen(method)]
    fn report(this: &RawOrganizationStub, call: JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn archive(this: &RawOrganizationStub) -> Promise;
    #[wasm_bindgen(method, js_name = liftBlock)]
    fn lift_block(this: &RawOrganizationStub, policy: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn health(this: &RawOrganizationStub) -> Promise;
}

/// The stub of the organization's object. The gateway has only one organization's object, because
/// all admin keys of the gateway belong to one organization.
pub struct OrganizationStub(RawOrganizationStub);

impl OrganizationStub {
    /// Makes the object's wasm module trap, for tests.
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    pub fn new(env: &Env) -> HostResult<Self> {
        let namespace = durable_objects(env, "ORG_GATE")?;
        Ok(Self(namespace.get_by_name("organisation")?.into_rpc()))
    }

    /// Returns a report from cached pages or from the upstream.
    pub async fn report(&self, call: &ReportCall) -> HostResult<ReportReply> {
        receive(JsFuture::from(self.request_report(call)?).await?)
    }

    /// Requests a report. The promise resolves to a [`ReportReply`].
    pub fn request_report(&self, call: &ReportCall) -> HostResult<Promise> {
        Ok(self.0.report(send_back(call)?))
    }

    /// Continues the daily archive until nothing is left to fetch, the archive's share of the
    /// budget is spent, or the run ends for another reason. Does nothing while another run is in
    /// progress.
    pub async fn archive(&self) -> HostResult<()> {
        JsFuture::from(self.0.archive()).await?;
        Ok(())
    }

    /// Unblocks a policy that the upstream has blocked.
    pub async fn lift_block(&self, policy: RateLimitPolicy) -> HostResult<()> {
        JsFuture::from(self.0.lift_block(policy.as_str())).await?;
        Ok(())
    }

    /// Returns the object's state for the health report.
    pub async fn health(&self) -> HostResult<OrganizationHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }
}
