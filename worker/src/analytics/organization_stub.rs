//! The Durable Object of the organization, as its callers see it.

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
    /// `traceparent` for the upstream.
    pub traceparent: String,
    /// `tracestate` for the upstream.
    pub tracestate: Option<String>,
    /// Who asks, as [`crate::auth::caller::Caller::key`].
    pub caller: String,
    /// The most that the caller's token may use of the window.
    pub quota: Option<u32>,
    /// The ceilings that the caller shares with others.
    pub ceilings: Vec<Ceiling>,
    /// What is asked for.
    pub query: ReportQuery,
    /// Whether the caller wants none of what is kept (`Cache-Control: no-cache`).
    pub revalidate: bool,
    /// Whether a page that is no longer fresh is better than none.
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

/// A report, or the answer that says why there is none.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportReply {
    /// The pages of the report.
    pub pages: Option<ReportPages>,
    /// Any other answer, when there are none.
    pub refusal: Option<GatewayResponse>,
    /// For the log and `Server-Timing`.
    pub metrics: RequestMetrics,
}

/// The pages that an answer is cut from.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ReportPages {
    /// The page with the first row, whole, so that the Worker can cut other answers from it as well.
    pub first: PageRow,
    /// The page after it, when the answer has rows of both.
    pub second: Option<PageRow>,
    /// `Cache-Status` after the cache's name.
    pub cache: String,
    /// `RateLimit-Policy` and `RateLimit`, when the budget was asked.
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

/// The object of the organisation's analytics, from outside: one, since one admin key belongs to
/// one organisation.
pub struct OrgStub(RawOrg);

impl OrgStub {
    /// Makes it trap.
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    /// The object.
    pub fn new(env: &Env) -> HostResult<Self> {
        let namespace = env.durable_object("ORG_GATE")?;
        Ok(Self(namespace.get_by_name("organisation")?.into_rpc()))
    }

    /// Answers with a report, from what is kept or from upstream.
    pub async fn report(&self, call: &ReportCall) -> HostResult<ReportReply> {
        receive(JsFuture::from(self.0.report(send_back(call)?)).await?)
    }

    /// Asks for the next rows of an export: a promise of an [`ExportReply`].
    pub fn begin_export(&self, call: &ExportCall) -> HostResult<Promise> {
        Ok(self.0.export(send_back(call)?))
    }

    /// Holds a place for an export that waits for the budget, or returns the refusal.
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

    /// Lets the daily archive go on, until its share of the budget is spent or nothing is left.
    pub async fn archive(&self) -> HostResult<()> {
        JsFuture::from(self.0.archive()).await?;
        Ok(())
    }

    /// The JWK Set of a trusted issuer, which has this key if the issuer has; `None` when it is
    /// not available.
    pub async fn key_set(&self, address: &str, kid: &str) -> HostResult<Option<KeySet>> {
        let reply = JsFuture::from(self.0.key_set(address, kid)).await?;
        let reply: Option<KeySetReply> = receive(reply)?;
        Ok(reply.and_then(|reply| KeySet::read(reply.text, Millis(reply.fetched)).ok()))
    }

    /// Opens a policy that the upstream has closed.
    pub async fn reopen(&self, policy: Policy) -> HostResult<()> {
        JsFuture::from(self.0.reopen(policy.as_str())).await?;
        Ok(())
    }

    /// How it is.
    pub async fn health(&self) -> HostResult<OrgHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }
}
