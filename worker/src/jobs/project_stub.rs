//! The Durable Object of a project, as its callers see it.

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
