//! The stub of a project's Durable Object.

use js_sys::Promise;
use quillgate::Policy;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::http::response::GatewayResponse;
use crate::jobs::health::ProjectHealth;
use crate::jobs::ledger::JobFilter;
use crate::jobs::write::Write;
use crate::runtime::{Call, HostResult, receive, send_back};
use crate::upstream::metrics::RequestMetrics;

/// The header field with the kind of problem that an object returns instead of a WebSocket. The Worker
/// does not forward it.
pub const PROBLEM_HEADER: &str = "problem-kind";

/// A call that creates a job or sends a follow-up.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct WriteCall {
    /// The request.
    pub call: Call,
    /// The change.
    pub write: Write,
}

/// A call that lists jobs of the ledger.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct ListCall {
    /// The request.
    pub call: Call,
    /// The filter.
    pub filter: JobFilter,
    /// Maximum number of jobs.
    pub limit: u64,
    /// The end of the previous page. A cursor is a string, because its numbers can exceed JavaScript's
    /// safe integers.
    pub cursor: Option<String>,
}

/// A response and its metrics.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct WriteReply {
    /// The response.
    pub response: GatewayResponse,
    /// The metrics for the log and `Server-Timing`.
    pub metrics: RequestMetrics,
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
}

/// A stub of a project's object.
pub struct ProjectStub(RawProject);

impl ProjectStub {
    /// Makes the object trap.
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    /// Creates a stub for a project.
    pub fn new(env: &Env, project: &str) -> HostResult<Self> {
        let namespace = env.durable_object("PROJECT_GATE")?;
        Ok(Self(namespace.get_by_name(project)?.into_rpc()))
    }

    /// Creates a job or sends a follow-up.
    pub async fn write(&self, call: &WriteCall) -> HostResult<WriteReply> {
        receive(JsFuture::from(self.0.write(send_back(call)?)).await?)
    }

    /// Lists jobs.
    pub async fn list(&self, call: &ListCall) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.list(send_back(call)?)).await?)
    }

    /// Reads the record of a job.
    pub async fn read_record(&self, call: &Call, job: &str) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.read_record(send_back(call)?, job)).await?)
    }

    /// Deletes the record of a job. `id` is the request's id.
    pub async fn delete_record(&self, id: &str, job: &str) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.delete_record(id, job)).await?)
    }

    /// Returns the object's health.
    pub async fn health(&self) -> HostResult<ProjectHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }

    /// Removes the upstream's block of a policy.
    pub async fn reopen(&self, policy: Policy) -> HostResult<()> {
        JsFuture::from(self.0.reopen(policy.as_str())).await?;
        Ok(())
    }

    /// Opens a WebSocket for changes. Returns the object's response, which is a problem if it refuses.
    pub async fn watch(&self, url: &str) -> HostResult<web_sys::Response> {
        let headers = js_sys::Object::new();
        js_sys::Reflect::set(&headers, &"upgrade".into(), &"websocket".into())?;
        let options = js_sys::Object::new();
        js_sys::Reflect::set(&options, &"headers".into(), &headers)?;
        let response = JsFuture::from(self.0.fetch(url, &options)).await?;
        Ok(response.into())
    }
}
