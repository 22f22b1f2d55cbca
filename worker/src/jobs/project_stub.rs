use js_sys::Promise;
use quillgate::RateLimitPolicy;
use quillgate::encode::percent_encode;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Response, WebSocket};
use worker::Env;
use worker::worker_sys::ext::ResponseExt as _;

use crate::http::response::GatewayResponse;
use crate::http::url::{decode_percent, split_url};
use crate::jobs::health::ProjectHealth;
use crate::jobs::records::JobQuery;
use crate::jobs::resource::Resource;
use crate::jobs::write::Write;
use crate::runtime::{HostResult, durable_objects, parse_json, receive, send_back, stringify_json};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::RequestIds;

/// A request for changes.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct WatchCall {
    pub ids: RequestIds,
    /// Isolates of the previous release do not send it during a rollout.
    #[serde(default)]
    pub resource: Resource,
    /// `None` for all jobs of the project.
    pub job: Option<String>,
    /// The fingerprint of the caller's key.
    pub caller: String,
    /// The last change that the watcher received.
    pub after: Option<u64>,
}

impl WatchCall {
    /// A WebSocket is requested with `fetch`, because RPC methods cannot return one.
    pub fn to_url(&self) -> HostResult<String> {
        let json = String::from(stringify_json(&send_back(self)?)?);
        Ok(format!("https://project/?{}", percent_encode(&json)))
    }

    pub fn from_url(url: &str) -> Option<Self> {
        let json = decode_percent(split_url(url).1?)?;
        receive(parse_json(&json.into()).ok()?).ok()
    }
}

#[wasm_bindgen]
extern "C" {
    type RawProject;

    #[cfg(feature = "trap-route")]
    #[wasm_bindgen(method, js_name = trap)]
    fn trap(this: &RawProject) -> Promise;
    #[wasm_bindgen(method)]
    fn write(this: &RawProject, ids: JsValue, write: JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn list(this: &RawProject, ids: JsValue, query: JsValue) -> Promise;
    #[wasm_bindgen(method, js_name = readRecord)]
    fn read_record(this: &RawProject, ids: JsValue, job: &str) -> Promise;
    #[wasm_bindgen(method, js_name = findStoredJob)]
    fn find_stored_job(this: &RawProject, job: &str) -> Promise;
    #[wasm_bindgen(method, js_name = findNewJob)]
    fn find_new_job(this: &RawProject, job: &str) -> Promise;
    #[wasm_bindgen(method, js_name = deleteRecord)]
    fn delete_record(this: &RawProject, job: &str) -> Promise;
    #[wasm_bindgen(method, js_name = liftBlock)]
    fn lift_block(this: &RawProject, policy: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn health(this: &RawProject) -> Promise;
    #[wasm_bindgen(method)]
    fn fetch(this: &RawProject, url: &str, options: &JsValue) -> Promise;
}

pub struct ProjectStub(RawProject);

impl ProjectStub {
    #[cfg(feature = "trap-route")]
    pub fn trap(&self) -> Promise {
        self.0.trap()
    }

    pub fn new(env: &Env, project: &str, resource: Resource) -> HostResult<Self> {
        let namespace = durable_objects(env, "PROJECT_GATE")?;
        let name = resource.object_name(project);
        Ok(Self(namespace.get_by_name(&name)?.into_rpc()))
    }

    pub async fn write(
        &self,
        ids: &RequestIds,
        write: &Write,
    ) -> HostResult<(GatewayResponse, RequestMetrics)> {
        let written = self.0.write(send_back(ids)?, send_back(write)?);
        receive(JsFuture::from(written).await?)
    }

    pub async fn list(&self, ids: &RequestIds, query: &JobQuery) -> HostResult<GatewayResponse> {
        let listed = self.0.list(send_back(ids)?, send_back(query)?);
        receive(JsFuture::from(listed).await?)
    }

    pub async fn read_record(&self, ids: &RequestIds, job: &str) -> HostResult<GatewayResponse> {
        receive(JsFuture::from(self.0.read_record(send_back(ids)?, job)).await?)
    }

    pub async fn find_stored_job(&self, job: &str) -> HostResult<Option<String>> {
        Ok(JsFuture::from(self.0.find_stored_job(job))
            .await?
            .as_string())
    }

    /// See [`Project::find_new_job`](crate::jobs::project_object::Project).
    pub async fn find_new_job(&self, job: &str) -> HostResult<Option<String>> {
        Ok(JsFuture::from(self.0.find_new_job(job)).await?.as_string())
    }

    /// Returns whether the job had a record.
    pub async fn delete_record(&self, job: &str) -> HostResult<bool> {
        Ok(JsFuture::from(self.0.delete_record(job)).await?.is_truthy())
    }

    pub async fn health(&self) -> HostResult<ProjectHealth> {
        receive(JsFuture::from(self.0.health()).await?)
    }

    pub async fn lift_block(&self, policy: RateLimitPolicy) -> HostResult<()> {
        JsFuture::from(self.0.lift_block(policy.as_str())).await?;
        Ok(())
    }

    /// The inner `Err` is a refusal of the object.
    pub async fn watch(&self, call: &WatchCall) -> HostResult<Result<WebSocket, GatewayResponse>> {
        let options = parse_json(&r#"{"headers":{"upgrade":"websocket"}}"#.into())?;
        let response = JsFuture::from(self.0.fetch(&call.to_url()?, &options)).await?;
        let response: Response = response.into();
        Ok(match response.websocket() {
            Some(socket) => Ok(socket),
            None => Err(receive(JsFuture::from(response.json()?).await?)?),
        })
    }
}
