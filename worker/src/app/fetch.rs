//! Functions that the Worker's `fetch` and `scheduled` handlers call.

use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};
use worker::Env;
use worker::worker_sys::Context;

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::action::Action;
use crate::app::analytics::read_cached_report;
use crate::app::dispatch;
use crate::app::isolate::{load_config, with_verified};
use crate::app::pending_request::PendingRequest;
use crate::app::plan::{PendingStep, Plan, Step, plan, plan_crashed, plan_unconfigured};
use crate::app::request_context::RequestContext;
use crate::http::not_found_page;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::GatewayResponse;
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
    let headers = read_headers(&request.headers());
    let head = RequestHead::read(uuid, request.method(), request.url(), headers);
    #[cfg(feature = "trap-route")]
    if let Some(trapped) = super::trap::handle(&head, &env) {
        return trapped;
    }
    let started = to_millis(started);
    let config = match load_config(&env) {
        Ok(config) => config,
        Err(error) => {
            let (facts, response) = plan_unconfigured(&head, error);
            let context = RequestContext::new(&head, facts, started);
            return respond(context, &env, response, error.to_string()).into();
        }
    };
    let Plan { facts, step } = with_verified(|verified| plan(&config, &head, started, verified));
    let mut context = RequestContext::new(&head, facts, started);
    let reply = match step {
        Err(problem) if not_found_page::applies(&problem, &head) => {
            Ok(not_found_page::response().into())
        }
        Err(problem) => Ok(context.refuse(&problem)),
        Ok(Step::Respond(response)) => Ok(response.into()),
        Ok(Step::Begin(PendingStep::Run(Action::ReadReport(query)))) => {
            read_cached_report(&mut context, &head, query).map_err(PendingStep::Run)
        }
        Ok(Step::Begin(step)) => Err(step),
    };
    match reply {
        Ok(reply) => context.finish(&env, reply).into(),
        Err(step) => {
            let pending = PendingRequest {
                context,
                head: Rc::new(head),
                config,
                env,
                request,
                execution,
            };
            into_promise(async move { Ok(dispatch::run(pending, step).await.into()) }).into()
        }
    }
}

/// Responds to a request whose handler threw an exception, for example after a trap.
#[wasm_bindgen]
pub fn fail(uuid: String, started: f64, request: &Request, message: String, env: &Env) -> Response {
    let headers = read_headers(&request.headers());
    let head = RequestHead::read(uuid, request.method(), request.url(), headers);
    let config = load_config(env).ok();
    let (facts, problem) = plan_crashed(config.as_deref(), &head);
    let context = RequestContext::new(&head, facts, to_millis(started));
    respond(context, env, Err(problem), message)
}

/// Responds and logs a message for the operator.
fn respond(
    mut context: RequestContext,
    env: &Env,
    response: Result<GatewayResponse, Problem>,
    operator: String,
) -> Response {
    context.metrics.operator = Some(operator);
    let reply = match response {
        Ok(response) => response.into(),
        Err(problem) => context.refuse(&problem),
    };
    context.finish(env, reply)
}

/// Runs the daily archive. The cron trigger calls this function.
#[wasm_bindgen(js_name = runArchive)]
pub fn run_archive(env: Env) -> Promise {
    into_promise(async move {
        let config = load_config(&env).map_err(HostError::from)?;
        if !config.analytics.archive.projects.is_empty() {
            OrganizationStub::new(&env)?.archive().await?;
        }
        Ok(JsValue::UNDEFINED)
    })
}
