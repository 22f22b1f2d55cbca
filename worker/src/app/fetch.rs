//! The entry points of the Worker: `fetch` and `scheduled`.

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};
use worker::Env;
use worker::worker_sys::Context;

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::dispatch;
use crate::app::identity::{Evidence, make_plan};
use crate::app::isolate::{config, load_config};
use crate::app::pending_request::PendingRequest;
use crate::app::plan::{Plan, is_liveness};
use crate::app::reply::Reply;
use crate::app::request_context::RequestContext;
use crate::http::problem::Problem;
use crate::http::request_head::{PackedHead, header_names};
use crate::runtime::into_promise;

/// Returns the header fields that the entry copies into a [`PackedHead`], one per line.
#[wasm_bindgen(js_name = headerNames)]
pub fn join_header_names(is_post: bool) -> String {
    header_names(is_post).join("\n")
}

/// Handles a request. `head` is a [`PackedHead`], `started` the current time.
///
/// Returns a `Response`, or a promise of one.
#[wasm_bindgen]
pub fn handle(
    head: String,
    started: f64,
    request: Request,
    env: Env,
    execution: Context,
) -> JsValue {
    #[cfg(feature = "trap-route")]
    if let Some(trapped) = super::trap::handle(&head, &env) {
        return trapped;
    }
    let packed = PackedHead::read(&head);
    let config = load_config(&env);
    let started = millis(started);
    let plan = match &config {
        _ if is_liveness(&packed.request_head()) => Plan::healthy(),
        Ok(config) => {
            let cookie = find_cookie(&packed, &request);
            let evidence = Evidence {
                cookie: cookie.as_deref(),
                ..Evidence::default()
            };
            make_plan(config, &packed, started, &evidence)
        }
        Err(error) => Plan::refused(Problem::misconfigured(error.variable, error.rule)),
    };
    let mut context = RequestContext::new(&packed, &plan, started);
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            context.metrics.operator = Some(error.to_string());
            let reply = match plan.action {
                Err(problem) => context.refuse(&problem),
                Ok(_) => Reply::json(200, dispatch::LIVENESS_BODY),
            };
            return context.finish(&env, reply).into();
        }
    };
    match dispatch::answer_immediately(&mut context, &config, &packed, plan.action) {
        Ok(reply) => context.finish(&env, reply).into(),
        Err(action) => {
            let pending = PendingRequest {
                context,
                config,
                env,
                request,
                execution,
            };
            into_promise(async move { Ok(dispatch::run(pending, &head, action).await.into()) })
                .into()
        }
    }
}

/// Responds to a request whose handler threw an exception, such as a trap.
#[wasm_bindgen]
pub fn fail(head: &str, started: f64, message: String, env: &Env) -> Response {
    let packed = PackedHead::read(head);
    let config = load_config(env).ok();
    let plan = Plan::crashed(config.as_deref(), &packed.request_head());
    let mut context = RequestContext::new(&packed, &plan, millis(started));
    context.metrics.operator = Some(message);
    let problem = plan.action.err().unwrap_or_else(Problem::internal);
    let reply = context.refuse(&problem);
    context.finish(env, reply)
}

/// Runs the daily archive. The cron trigger calls it.
#[wasm_bindgen(js_name = runArchive)]
pub fn run_archive(env: Env) -> Promise {
    into_promise(async move {
        if !config(&env)?.analytics.archive.projects.is_empty() {
            OrganizationStub::new(&env)?.archive().await?;
        }
        Ok(JsValue::UNDEFINED)
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is far below 2^53 and not negative"
)]
fn millis(number: f64) -> Millis {
    Millis(number as u64)
}

/// Reads `Cookie` if the request has no `Authorization`. Most requests have one, and reading another
/// header field costs a call of the host.
fn find_cookie(packed: &PackedHead<'_>, request: &Request) -> Option<String> {
    if packed.field("authorization").is_some() {
        return None;
    }
    request.headers().get("cookie").ok()?
}
