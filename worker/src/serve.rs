//! Carries out in workerd what the gate decides.

use std::sync::OnceLock;

use futures_util::StreamExt;
use quillgate::Millis;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{Context, Env, Request, Response, Result, event};

use crate::config::{Config, ConfigError};
use crate::content::LARGEST_BODY;
use crate::cors::Origin;
use crate::gate::{self, Decision, Forward, Incoming, Outcome, Pending};
use crate::log::Line;
use crate::problem::Problem;
use crate::upstream::{self, Reading};
use crate::{forward, respond};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> Result<Response> {
    let started = now();
    let mut line = Line {
        id: request_id(&request),
        ..Line::default()
    };
    let (origin, answer) = answered(request, &env, &mut line).await;
    let response = match answer {
        Ok(response) => response,
        Err(problem) => {
            line.problem = Some(problem.kind);
            respond::problem(&problem, &line.id)?
        }
    };
    let response = respond::finished(response, &line.id, &origin)?;
    line.write(response.status_code(), now().since(started).0);
    Ok(response)
}

type Answer = std::result::Result<Response, Problem>;

async fn answered(mut request: Request, env: &Env, line: &mut Line) -> (Origin, Answer) {
    let outcome = match decided(&request, env, line) {
        Ok(outcome) => outcome,
        Err(problem) => return (Origin::Own, Err(problem)),
    };
    let answer = match outcome.decision {
        Ok(decision) => carried_out(decision, &mut request, env, line).await,
        Err(problem) => Err(problem),
    };
    (outcome.origin, answer)
}

fn decided(request: &Request, env: &Env, line: &mut Line) -> std::result::Result<Outcome, Problem> {
    let header = |name| request.headers().get(name).ok().flatten();
    let url = request.inner().url();
    let method = request.inner().method();
    let fields = ["authorization", "origin", "content-type", "content-length"];
    let [authorization, origin, content_type, content_length] = fields.map(header);
    let incoming = Incoming {
        method: &method,
        url: &url,
        authorization: authorization.as_deref(),
        origin: origin.as_deref(),
        content_type: content_type.as_deref(),
        content_length: content_length.as_deref(),
    };
    if gate::is_liveness(&incoming) {
        return Ok(Outcome::healthy());
    }
    let config = config(env).map_err(|error| {
        line.operator = Some(error.to_string());
        Problem::misconfigured(error.variable, error.rule)
    })?;
    Ok(gate::decide(config, &incoming, now()))
}

async fn carried_out(
    decision: Decision,
    request: &mut Request,
    env: &Env,
    line: &mut Line,
) -> Answer {
    match decision {
        Decision::Healthy => respond::healthy().map_err(|error| broken(&error, line)),
        Decision::Options(methods) => {
            respond::options(&methods).map_err(|error| broken(&error, line))
        }
        Decision::Forward(forward) => forwarded(forward, env, line).await,
        Decision::ReadBody(pending) => {
            note(line, pending.operation.name, &pending.caller.subject);
            let forward = with_body(pending, request).await?;
            forwarded(forward, env, line).await
        }
    }
}

async fn with_body(
    pending: Pending,
    request: &mut Request,
) -> std::result::Result<Forward, Problem> {
    let mut body = Vec::new();
    if let Ok(mut stream) = request.stream() {
        while let Some(chunk) = stream.next().await {
            // What broke off cannot be answered; what is answered is not JSON.
            let chunk = chunk.map_err(|_| Problem::malformed_body())?;
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_BODY {
                return Err(Problem::content_too_large(LARGEST_BODY));
            }
        }
    }
    pending.with_body(&body)
}

async fn forwarded(forward: Forward, env: &Env, line: &mut Line) -> Answer {
    note(line, forward.operation.name, &forward.caller.subject);
    let config = config(env).map_err(|error| Problem::misconfigured(error.variable, error.rule))?;
    let sent = forward::send(config, &forward.request).await;
    let silent = |silence| upstream::silence(silence, forward.request.method);
    let response = sent
        .map_err(|error| broken(&error, line))?
        .map_err(silent)?;
    let status = response.status_code();
    line.upstream_status = Some(status);
    let content_type = response.headers().get("content-type").ok().flatten();
    match upstream::reading(status, content_type.as_deref()) {
        Reading::Success => respond::success(&response).map_err(|error| broken(&error, line)),
        Reading::Problem(problem) => Err(upstream::uncertain(problem, forward.request.method)),
        Reading::Error => {
            let error = forward::error(config, response, now()).await;
            Err(upstream::error(&error, forward.request.method))
        }
        Reading::KeyRefused => {
            let error = forward::error(config, response, now()).await;
            line.operator = Some(format!(
                "the upstream refused ADMIN_API_KEY with {status}: {}; it may have expired, be limited \
                 to read or write, to other addresses, or belong to another organisation",
                error.message
            ));
            Err(upstream::key_refused())
        }
    }
}

fn note(line: &mut Line, operation: &'static str, subject: &str) {
    line.operation = Some(operation);
    line.subject = Some(subject.to_owned());
}

/// 500: the Worker itself failed; what happened is for the log.
fn broken(error: &worker::Error, line: &mut Line) -> Problem {
    line.operator = Some(error.to_string());
    Problem::new(
        500,
        "internal",
        "The gateway failed",
        "the gateway failed; its log says more",
    )
}

/// The Worker's variables do not change while it lives: read and checked once.
fn config(env: &Env) -> std::result::Result<&'static Config, ConfigError> {
    static CONFIG: OnceLock<std::result::Result<Config, ConfigError>> = OnceLock::new();
    let read = || Config::read(|name| env.var(name).ok().map(|value| value.to_string()));
    CONFIG.get_or_init(read).as_ref().map_err(|error| *error)
}

/// The caller's own id for the request, when it is a harmless one; else a fresh one.
fn request_id(request: &Request) -> String {
    let harmless = |id: &String| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
        !id.is_empty() && id.len() <= 255 && id.bytes().all(fits)
    };
    let own = request.headers().get("x-request-id").ok().flatten();
    own.filter(harmless).unwrap_or_else(random_uuid)
}

fn now() -> Millis {
    Millis(worker::Date::now().as_millis())
}
