//! What the Worker and the objects tell each other: the same types on both sides, as structured
//! clones.

use js_sys::{Promise, Uint8Array};
use quillgate::export::ExportFormat;
use quillgate::{Millis, Policy};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::analytics::pages::PageRow;
use crate::analytics::query::ReportQuery;
use crate::app::plan::Write;
use crate::auth::jwks::KeySet;
use crate::budget::Ceiling;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::jobs::ledger::JobFilter;
use crate::log::{OrgHealth, ProjectHealth, RequestMetrics};
use crate::runtime::{Call, HostError, HostResult};

/// The header field in which an object names the kind of problem that it answers with in the place
/// of a WebSocket. It goes no further than to the Worker.
pub const PROBLEM_HEADER: &str = "problem-kind";

/// A request that writes.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct WriteCall {
    /// The request.
    pub call: Call,
    /// What it writes.
    pub write: Write,
}

/// What to list of the ledger.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ListCall {
    /// The request.
    pub call: Call,
    /// Which jobs.
    pub filter: JobFilter,
    /// The most jobs to list.
    pub limit: u64,
    /// Where the page before ended: a cursor, since its numbers may be beyond those of
    /// JavaScript.
    pub cursor: Option<String>,
}

/// A whole answer, and how it came about.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct WriteReply {
    /// The answer.
    pub response: GatewayResponse,
    /// For the log and `Server-Timing`.
    pub metrics: RequestMetrics,
}

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
    type RawProject;

    #[cfg(feature = "trap-route")]
    #[wasm_bindgen(method, js_name = trap)]
    fn trap(this: &RawProject) -> Promise;
    #[wasm_bindgen(method)]
    fn write(this: &RawProject, call: JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn list(this: &RawProject, call: JsValue) -> Promise;
    #[wasm_bindgen(method, js_name = readRecord)]
    fn read_record(this: &RawProject, call: JsValue, job: &str) -> Promise;
    #[wasm_bindgen(method, js_name = deleteRecord)]
    fn delete_record(this: &RawProject, id: &str, job: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn reopen(this: &RawProject, policy: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn health(this: &RawProject) -> Promise;
    #[wasm_bindgen(method)]
    fn fetch(this: &RawProject, url: &str, options: &JsValue) -> Promise;

    type RawSession;

    #[wasm_bindgen(method)]
    fn open(this: &RawSession, record: &str, ends: f64) -> Promise;
    #[wasm_bindgen(method)]
    fn read(this: &RawSession) -> Promise;
    #[wasm_bindgen(method)]
    fn end(this: &RawSession) -> Promise;

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

/// Reads a message that was received.
pub fn receive<T: DeserializeOwned>(value: JsValue) -> HostResult<T> {
    Ok(serde_wasm_bindgen::from_value(value)?)
}

/// Reads a policy's name.
pub fn read_policy(name: &str) -> HostResult<Policy> {
    Policy::from_name(name).ok_or_else(|| HostError::new("not a policy"))
}

/// Makes a message that is sent.
pub fn send_back<T: Serialize>(value: &T) -> HostResult<JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_missing_as_null(true);
    Ok(value.serialize(&serializer)?)
}

/// The object of a project, from outside.
pub struct ProjectStub(RawProject);

impl ProjectStub {
    /// Makes it trap.
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    /// The object of this project.
    pub fn new(env: &Env, project: &str) -> HostResult<Self> {
        let namespace = env.durable_object("PROJECT_GATE")?;
        Ok(Self(namespace.get_by_name(project)?.into_rpc()))
    }

    /// Carries out a request that writes.
    pub async fn write(&self, call: &WriteCall) -> HostResult<WriteReply> {
        receive(JsFuture::from(self.0.write(send_back(call)?)).await?)
    }

    /// Lists jobs.
    pub async fn list(&self, call: &ListCall) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.list(send_back(call)?)).await?)
    }

    /// Reads what is recorded of a job.
    pub async fn read_record(&self, call: &Call, job: &str) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.read_record(send_back(call)?, job)).await?)
    }

    /// Deletes what is recorded of a job; `id` is the request's.
    pub async fn delete_record(&self, id: &str, job: &str) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.delete_record(id, job)).await?)
    }

    /// How it is.
    pub async fn health(&self) -> HostResult<ProjectHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }

    /// Opens a policy that the upstream has closed.
    pub async fn reopen(&self, policy: Policy) -> HostResult<()> {
        JsFuture::from(self.0.reopen(policy.as_str())).await?;
        Ok(())
    }

    /// Opens a WebSocket on which changes are sent, or gives the answer that says why not.
    pub async fn watch(&self, url: &str) -> HostResult<web_sys::Response> {
        let headers = js_sys::Object::new();
        js_sys::Reflect::set(&headers, &"upgrade".into(), &"websocket".into())?;
        let options = js_sys::Object::new();
        js_sys::Reflect::set(&options, &"headers".into(), &headers)?;
        let response = JsFuture::from(self.0.fetch(url, &options)).await?;
        Ok(response.into())
    }
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

/// The object of a session, from outside.
pub struct SessionStub(RawSession);

impl SessionStub {
    /// The object of this name.
    pub fn new(env: &Env, name: &str) -> HostResult<Self> {
        let namespace = env.durable_object("SESSION")?;
        Ok(Self(namespace.get_by_name(name)?.into_rpc()))
    }

    /// Keeps a record until an instant; `false` when there is one already.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub async fn open(&self, record: &str, ends: Millis) -> HostResult<bool> {
        let opened = JsFuture::from(self.0.open(record, ends.0 as f64)).await?;
        Ok(opened.is_truthy())
    }

    /// The record; `None` when the session has ended.
    pub async fn read(&self) -> HostResult<Option<String>> {
        Ok(JsFuture::from(self.0.read()).await?.as_string())
    }

    /// Ends the session.
    pub async fn end(&self) -> HostResult<()> {
        JsFuture::from(self.0.end()).await?;
        Ok(())
    }
}
