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
use crate::budget::reservation::{BudgetRequest, Reservation, ReservationOutcome};
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::{HostResult, durable_objects, receive, send_back};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::RequestIds;

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportCall {
    pub ids: RequestIds,
    /// For each request to Mintlify.
    pub budget: BudgetRequest,
    pub query: ReportQuery,
    /// `Cache-Control: no-cache`.
    pub revalidate: bool,
    /// Instead of an error.
    pub accepts_stale: bool,
    /// Whether to fetch one of the following pages if it is not cached. Exports do so at their
    /// start, because they cannot replace rows that they have sent.
    pub checks_rest: bool,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub struct ReportReply {
    /// At most two. Whole pages, so that the isolate can cut other reports from them.
    pub pages: Vec<Page>,
    pub refusal: Option<GatewayResponse>,
    /// Set if the request checked the budget.
    pub headers: HeaderFields,
    pub metrics: RequestMetrics,
}

/// The end of a write that holds a reservation of the organization's budget.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct WriteOutcome {
    pub reservation: Reservation,
    pub outcome: ReservationOutcome,
    pub project: String,
    /// The id of the deployment that the write started.
    pub deployment: Option<String>,
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
    #[wasm_bindgen(method, js_name = reserveWrite)]
    fn reserve_write(this: &RawOrganizationStub, id: &str, request: JsValue) -> Promise;
    #[wasm_bindgen(method, js_name = concludeWrite)]
    fn conclude_write(this: &RawOrganizationStub, write: JsValue) -> Promise;
    #[wasm_bindgen(method, js_name = findDeployment)]
    fn find_deployment(this: &RawOrganizationStub, id: &str) -> Promise;
    #[wasm_bindgen(method, js_name = liftBlock)]
    fn lift_block(this: &RawOrganizationStub, policy: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn health(this: &RawOrganizationStub) -> Promise;
}

/// There is only one object, because all admin keys of the gateway belong to one organization.
pub struct OrganizationStub(RawOrganizationStub);

impl OrganizationStub {
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    pub fn new(env: &Env) -> HostResult<Self> {
        let namespace = durable_objects(env, "ORG_GATE")?;
        Ok(Self(namespace.get_by_name("organisation")?.into_rpc()))
    }

    pub async fn report(&self, call: &ReportCall) -> HostResult<ReportReply> {
        receive(JsFuture::from(self.request_report(call)?).await?)
    }

    /// Resolves to a [`ReportReply`].
    pub fn request_report(&self, call: &ReportCall) -> HostResult<Promise> {
        Ok(self.0.report(send_back(call)?))
    }

    /// Runs until nothing is left to fetch or the archive's share of the budget is spent. Does
    /// nothing while another run is in progress.
    pub async fn archive(&self) -> HostResult<()> {
        JsFuture::from(self.0.archive()).await?;
        Ok(())
    }

    /// If the budget refuses the write, returns the response as the inner `Err`.
    pub async fn reserve_write(
        &self,
        request_id: &str,
        request: &BudgetRequest,
    ) -> HostResult<Result<Reservation, GatewayResponse>> {
        let reserved = self.0.reserve_write(request_id, send_back(request)?);
        receive(JsFuture::from(reserved).await?)
    }

    pub async fn conclude_write(&self, write: &WriteOutcome) -> HostResult<()> {
        JsFuture::from(self.0.conclude_write(send_back(write)?)).await?;
        Ok(())
    }

    /// Returns the project of a deployment that the gateway started.
    pub async fn find_deployment(&self, id: &str) -> HostResult<Option<String>> {
        let found = JsFuture::from(self.0.find_deployment(id)).await?;
        Ok(found.as_string())
    }

    pub async fn lift_block(&self, policy: RateLimitPolicy) -> HostResult<()> {
        JsFuture::from(self.0.lift_block(policy.as_str())).await?;
        Ok(())
    }

    pub async fn health(&self) -> HostResult<OrganizationHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }
}
