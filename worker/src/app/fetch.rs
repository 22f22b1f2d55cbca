//! Functions that the JavaScript entry calls.

use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};
use worker::Env;
use worker::worker_sys::Context as Execution;

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::admission::{Admission, Facts, admit, describe_crash, is_liveness};
use crate::app::context::Context;
use crate::app::handlers::{HostResponse, call_handler, report_liveness};
use crate::app::isolate::{load_config, with_admission, with_verified};
use crate::app::issuer_keys::verify_token;
use crate::app::respond::{refuse, respond};
use crate::app::routes::HEALTH;
use crate::auth::caller::Caller;
use crate::auth::session::stub::SessionStub;
use crate::auth::{Identity, identify_session};
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::GatewayResponse;
use crate::runtime::{HostError, into_promise, read_fields, run_until_wait, to_millis};
use crate::upstream::metrics::RequestMetrics;

/// Returns a `Response`, or a promise of one. `started` is in milliseconds.
#[wasm_bindgen]
pub fn handle(
    uuid: String,
    started: f64,
    head: &str,
    request: Request,
    env: Env,
    execution: Execution,
) -> Result<JsValue, JsValue> {
    let head = read_head(uuid, head);
    #[cfg(feature = "trap-route")]
    if let Some(trapped) = super::trap::handle(&head, &env) {
        return Ok(trapped.into());
    }
    let started = to_millis(started);
    run_until_wait(async move {
        let config = match load_config(&env) {
            Ok(config) => config,
            Err(error) => {
                let mut metrics = RequestMetrics {
                    operator: Some(error.to_string()),
                    ..RequestMetrics::default()
                };
                let mut facts = Facts::default();
                let response = if is_liveness(&head) {
                    facts.route = Some(HEALTH);
                    report_liveness()
                } else {
                    let problem = Problem::misconfigured(error.variable, error.rule);
                    refuse(&problem, &head, &facts, &mut metrics)
                };
                return Ok(respond(&env, &head, started, &facts, &metrics, response).into());
            }
        };
        let mut context = Context::new(head, config, env, request, execution, started);
        let response = match answer(&mut context).await {
            Ok(response) => response,
            Err(problem) => refuse(
                &problem,
                &context.head,
                &context.facts,
                &mut context.metrics,
            ),
        };
        let Context {
            env,
            head,
            facts,
            metrics,
            ..
        } = context;
        Ok(respond(&env, &head, started, &facts, &metrics, response).into())
    })
}

async fn answer(context: &mut Context) -> Result<HostResponse, Problem> {
    let started = context.started;
    let mut identified = None;
    loop {
        let admitted = with_admission(|state| {
            let Context {
                config,
                head,
                facts,
                ..
            } = &mut *context;
            admit(config, head, started, identified.take(), state, facts)
        });
        match admitted? {
            Admission::Admitted(endpoint) => return call_handler(endpoint, context).await,
            Admission::Preflight(methods) => return Ok(GatewayResponse::options(&methods).into()),
            Admission::Unidentified {
                identity,
                accepts_assertion,
            } => {
                identified = Some(identify(context, identity, accepts_assertion).await?);
            }
        }
    }
}

/// If the session has ended, the request's assertion can still identify the caller.
async fn identify(
    context: &mut Context,
    mut identity: Identity,
    accepts_assertion: bool,
) -> Result<Rc<Caller>, Problem> {
    let (config, started) = (Rc::clone(&context.config), context.started);
    loop {
        let id = match identity {
            Identity::Known(caller) => return Ok(caller),
            Identity::Session(id) => id,
            Identity::Unverified(token) => {
                let token = verify_token(context, *token).await?;
                return Ok(with_verified(|verified| verified.remember(token, started)));
            }
        };
        let record = SessionStub::new(&context.env, id.as_str())?.read().await?;
        context.session = record.is_some().then_some(id);
        let assertion = context.head.header("cf-access-jwt-assertion");
        let assertion = assertion.filter(|_| accepts_assertion);
        identity = with_verified(|verified| {
            identify_session(
                record.as_deref(),
                assertion,
                &config.auth,
                started,
                verified,
            )
        })?;
    }
}

/// The handler threw an exception, for example after a trap.
#[wasm_bindgen]
pub fn fail(uuid: String, started: f64, head: &str, message: String, env: &Env) -> Response {
    let head = read_head(uuid, head);
    let config = load_config(env).ok();
    let (facts, problem) = describe_crash(config.as_deref(), &head);
    let mut metrics = RequestMetrics {
        operator: Some(message),
        ..RequestMetrics::default()
    };
    let response = refuse(&problem, &head, &facts, &mut metrics);
    respond(env, &head, to_millis(started), &facts, &metrics, response)
}

/// `head` has the method, the URL, and the names and values of the header fields, each on a line.
fn read_head(uuid: String, head: &str) -> RequestHead {
    let mut lines = head.split('\n');
    let [method, url] = [lines.next(), lines.next()].map(|line| line.unwrap_or("").to_owned());
    RequestHead::read(uuid, method, url, read_fields(lines))
}

/// The cron trigger calls this function.
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
