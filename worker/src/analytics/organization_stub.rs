//! The stub of the organization's Durable Object, and its messages.

use js_sys::{Promise, Uint8Array};
use quillgate::export::ExportFormat;
use quillgate::{Millis, Policy};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::analytics::health::OrgHealth;
use crate::analytics::pages::PageRow;
use crate::analytics::query::ReportQuery;
use crate::auth::jwks::KeySet;
use crate::budget::Ceiling;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::{HostResult, receive, send_back};
use crate::upstream::metrics::RequestMetrics;

/// An issuer's keys.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct KeySetReply {
    /// The JWK Set.
    pub text: String,
    /// When the issuer sent it, in milliseconds since the Unix epoch.
    pub fetched: u64,
}

/// A request for a report.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportCall {
    /// The request's id.
    pub id: String,
    /// The `traceparent` for the upstream.
    pub traceparent: String,
    /// The `tracestate` for the upstream.
    pub tracestate: Option<String>,
    /// The caller's key, see [`crate::auth::caller::Caller::key`].
    pub caller: String,
    /// The maximum number of requests per window for the caller's token.
    pub quota: Option<u32>,
    /// The ceilings that the caller shares with others.
    pub ceilings: Vec<Ceiling>,
    /// The requested report.
    pub query: ReportQuery,
    /// Whether to bypass the cache (`Cache-Control: no-cache`).
    pub revalidate: bool,
    /// Whether the caller accepts a stale page instead of an error.
    pub takes_stale: bool,
}

/// A request for the next page of an export.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ExportCall {
    /// The page.
    pub report: ReportCall,
    /// The format of the rows.
    pub format: ExportFormat,
    /// The number of rows to skip at the beginning of the page.
    pub skip: u64,
}

/// The next page of an export, or the refusal.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ExportReply {
    /// The page.
    pub page: Option<ExportPage>,
    /// The response that refuses the page.
    pub refusal: Option<GatewayResponse>,
    /// `RateLimit-Policy` and `RateLimit`, if the page was reserved from the budget.
    pub headers: HeaderFields,
    /// For the log and `Server-Timing`.
    pub metrics: RequestMetrics,
}

/// A page of an export.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ExportPage {
    /// The rows in the export's format.
    #[serde(with = "serde_wasm_bindgen::preserve")]
    pub text: Uint8Array,
    /// The number of rows on the page, including the skipped ones.
    pub rows: u64,
    /// `hasMore` of the page.
    pub has_more: Option<bool>,
    /// `nextCursor` of the page.
    pub next_cursor: Option<String>,
}

/// A report, or the refusal.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportReply {
    /// The pages of the report.
    pub pages: Option<ReportPages>,
    /// The response that refuses the report.
    pub refusal: Option<GatewayResponse>,
    /// For the log and `Server-Timing`.
    pub metrics: RequestMetrics,
}

/// The pages that contain the rows of a report.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportPages {
    /// The page with the first row, complete, so that the Worker can cut other reports from it.
    pub first: PageRow,
    /// The next page, if the report spans two.
    pub second: Option<PageRow>,
    /// `Cache-Status` after the cache's name.
    pub cache: String,
    /// `RateLimit-Policy` and `RateLimit`, if the request checked the budget.
    pub headers: HeaderFields,
}

#[wasm_bindgen]
extern "C" {
    type RawOrg;

    #[cfg(feature = "trap-route")]
    #[wasm_bindgen(method, js_name = trap)]
    fn trap(this: &RawOrg) -> Promise;
    #[wasm_bindgen(method)]
    fn report(this: &RawOrg, call: JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn export(this: &RawOrg, call: JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn archive(this: &RawOrg) -> Promise;
    #[wasm_bindgen(method, js_name = holdExport)]
    fn hold_export(this: &RawOrg, export: &str, caller: &str) -> Promise;
    #[wasm_bindgen(method, js_name = releaseExport)]
    fn release_export(this: &RawOrg, export: &str) -> Promise;
    #[wasm_bindgen(method, js_name = keySet)]
    fn key_set(this: &RawOrg, address: &str, kid: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn reopen(this: &RawOrg, policy: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn health(this: &RawOrg) -> Promise;
}

/// The stub of the organization's object. There is one object, because an admin key belongs to one
/// organization.
pub struct OrganizationStub(RawOrg);

impl OrganizationStub {
    /// Traps the object.
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    /// Returns the stub.
    pub fn new(env: &Env) -> HostResult<Self> {
        let namespace = env.durable_object("ORG_GATE")?;
        Ok(Self(namespace.get_by_name("organisation")?.into_rpc()))
    }

    /// Returns a report from cached pages or from the upstream.
    pub async fn report(&self, call: &ReportCall) -> HostResult<ReportReply> {
        receive(JsFuture::from(self.0.report(send_back(call)?)).await?)
    }

    /// Requests the next rows of an export. The promise resolves to an [`ExportReply`].
    pub fn begin_export(&self, call: &ExportCall) -> HostResult<Promise> {
        Ok(self.0.export(send_back(call)?))
    }

    /// Takes or renews a place for an export that waits for the budget. Returns the refusal, if any.
    pub async fn hold_export(
        &self,
        export: &str,
        caller: &str,
    ) -> HostResult<Option<GatewayResponse>> {
        receive(JsFuture::from(self.0.hold_export(export, caller)).await?)
    }

    /// Frees the place of an export that has ended. The returned promise need not be awaited.
    pub fn release_export(&self, export: &str) -> Promise {
        self.0.release_export(export)
    }

    /// Continues the daily archive until its budget share is spent or nothing is left to fetch.
    pub async fn archive(&self) -> HostResult<()> {
        JsFuture::from(self.0.archive()).await?;
        Ok(())
    }

    /// Returns the key set of a trusted issuer, fetched again if it lacks the key. Returns `None` if no
    /// usable set is available.
    pub async fn key_set(&self, address: &str, kid: &str) -> HostResult<Option<KeySet>> {
        let reply = JsFuture::from(self.0.key_set(address, kid)).await?;
        let reply: Option<KeySetReply> = receive(reply)?;
        Ok(reply.and_then(|reply| KeySet::read(reply.text, Millis(reply.fetched)).ok()))
    }

    /// Reopens a policy after the upstream closed it.
    pub async fn reopen(&self, policy: Policy) -> HostResult<()> {
        JsFuture::from(self.0.reopen(policy.as_str())).await?;
        Ok(())
    }

    /// Returns the health for operators.
    pub async fn health(&self) -> HostResult<OrgHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }
}
