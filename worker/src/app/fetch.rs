//! Functions that the JavaScript entry calls.

use std::rc::Rc;

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};
use worker::Env;
use worker::worker_sys::Context as Execution;

use crate::analytics::archive::store::ArchiveStore;
use crate::analytics::organization_stub::OrganizationStub;
use crate::app::admission::{Admission, Facts, admit, describe_crash, is_liveness};
use crate::app::context::Context;
use crate::app::handlers::{HostResponse, call_handler, report_liveness};
use crate::app::isolate::{load_config, with_admission};
use crate::app::issuer_keys::verify_token;
use crate::app::respond::respond;
use crate::app::routes::HEALTH;
use crate::auth::session::object::SessionStub;
use crate::auth::{Evidence, Identity};
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::GatewayResponse;
use crate::runtime::{HostError, into_promise, read_fields, run_until_wait, to_integer};
use crate::upstream::metrics::RequestMetrics;
use crate::variable::VariableError;

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
    let started = Millis(to_integer(started));
    let config = match load_config(&env) {
        Ok(config) => config,
        Err(error) => return Ok(respond_without_config(&env, &head, started, error).into()),
    };
    let mut context = Context {
        head: Rc::new(head),
        config,
        env,
        request,
        execution,
        started,
        facts: Facts::default(),
        session: None,
        metrics: RequestMetrics::default(),
    };
    run_until_wait(async move {
        let answer = answer(&mut context).await;
        let (env, head, facts) = (&context.env, &context.head, &context.facts);
        Ok(respond(env, head, started, facts, context.metrics, answer).into())
    })
}

async fn answer(context: &mut Context) -> Result<HostResponse, Problem> {
    let mut evidence = None;
    loop {
        let (config, head, started) = (&context.config, &context.head, context.started);
        let facts = &mut context.facts;
        let admission =
            with_admission(|state| admit(config, head, started, evidence.take(), state, facts));
        let identity = match admission? {
            Admission::Unidentified(identity) => identity,
            Admission::Preflight(methods) => return Ok(GatewayResponse::options(&methods).into()),
            Admission::Admitted(endpoint) => return call_handler(endpoint, context).await,
        };
        evidence = Some(match identity {
            Identity::Known(caller) => Evidence::Caller(caller),
            Identity::Session(id) => {
                let record = SessionStub::new(&context.env, id.as_str())?.read().await?;
                context.session = record.is_some().then_some(id);
                Evidence::Record(record)
            }
            Identity::Unverified(token) => {
                let token = verify_token(context, *token).await?;
                let caller = with_admission(|(verified, _)| verified.remember(token, started));
                Evidence::Caller(caller)
            }
        });
    }
}

fn respond_without_config(
    env: &Env,
    head: &RequestHead,
    started: Millis,
    error: VariableError,
) -> Response {
    let mut facts = Facts::default();
    let answer = if is_liveness(head) {
        facts.route = Some(HEALTH);
        Ok(report_liveness())
    } else {
        Err(Problem::misconfigured(error.variable, error.rule))
    };
    let metrics = RequestMetrics {
        operator: Some(error.to_string()),
        ..RequestMetrics::default()
    };
    respond(env, head, started, &facts, metrics, answer)
}

/// The handler threw an exception, for example after a trap.
#[wasm_bindgen]
pub fn fail(uuid: String, started: f64, head: &str, message: String, env: &Env) -> Response {
    let head = read_head(uuid, head);
    let config = load_config(env).ok();
    let (facts, problem) = describe_crash(config.as_deref(), &head);
    let answer = Err(problem.with_operator(message));
    let (started, metrics) = (Millis(to_integer(started)), RequestMetrics::default());
    respond(env, &head, started, &facts, metrics, answer)
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
        // Archived days expire even if no project is archived anymore.
        let is_bound = ArchiveStore::open(&env)?.is_some();
        if is_bound || !config.analytics.archive.projects.is_empty() {
            OrganizationStub::new(&env)?.archive().await?;
        }
        Ok(JsValue::UNDEFINED)
    })
}
