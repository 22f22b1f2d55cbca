//! The entry points of the Worker: `fetch` and `scheduled`.

use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};
use worker::Env;
use worker::worker_sys::Context;

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::dispatch;
use crate::app::isolate::{load_config, with_verified};
use crate::app::pending_request::PendingRequest;
use crate::app::plan::{Plan, is_liveness, plan};
use crate::app::request_context::RequestContext;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::runtime::{HostError, into_promise, read_headers, to_millis};

/// Handles a request. `uuid` is a random UUID. `started` is the current Unix time in milliseconds.
///
/// Returns a `Response`, or a promise of one.
#[wasm_bindgen]
pub fn handle(
    uuid: String,
    started: f64,
    request: Request,
    env: Env,
    execution: Context,
) -> JsValue {
    let head = read_head(uuid, &request);
    #[cfg(feature = "trap-route")]
    if let Some(trapped) = super::trap::handle(&head, &env) {
        return trapped;
    }
    let config = load_config(&env);
    let started = to_millis(started);
    let plan = match &config {
        _ if is_liveness(&head) => Plan::healthy(),
        Ok(config) => with_verified(|verified| plan(config, &head, started, verified)),
        Err(error) => Plan::refused(Problem::misconfigured(error.variable, error.rule)),
    };
    let mut context = RequestContext::new(&head, &plan, started);
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            context.metrics.operator = Some(error.to_string());
            let reply = dispatch::answer_immediately(&mut context, &head, plan.action);
            // Without a configuration, every plan answers immediately.
            let reply = reply.unwrap_or_else(|_| context.refuse(&Problem::internal()));
            return context.finish(&env, reply).into();
        }
    };
    match dispatch::answer_immediately(&mut context, &head, plan.action) {
        Ok(reply) => context.finish(&env, reply).into(),
        Err(action) => {
            let pending = PendingRequest {
                context,
                head: Rc::new(head),
                config,
                env,
                request,
                execution,
            };
            into_promise(async move { Ok(dispatch::run(pending, action).await.into()) }).into()
        }
    }
}

/// Responds to a request whose handler threw an exception, such as a trap.
#[wasm_bindgen]
pub fn fail(uuid: String, started: f64, request: &Request, message: String, env: &Env) -> Response {
    let head = read_head(uuid, request);
    let config = load_config(env).ok();
    let plan = Plan::crashed(config.as_deref(), &head);
    let mut context = RequestContext::new(&head, &plan, to_millis(started));
    context.metrics.operator = Some(message);
    let problem = plan.action.err().unwrap_or_else(Problem::internal);
    let reply = context.refuse(&problem);
    context.finish(env, reply)
}

fn read_head(uuid: String, request: &Request) -> RequestHead {
    let headers = read_headers(&request.headers());
    RequestHead::read(uuid, request.method(), request.url(), headers)
}

/// Runs the daily archive. The cron trigger calls it.
#[wasm_bindgen(js_name = runArchive)]
pub fn run_archive(env: Env) -> Promise {
    into_promise(async move {
        let config = load_config(&env).map_err(|error| HostError::new(error.to_string()))?;
        if !config.analytics.archive.projects.is_empty() {
            OrganizationStub::new(&env)?.archive().await?;
        }
        Ok(JsValue::UNDEFINED)
    })
}
