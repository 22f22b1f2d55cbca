mod addresses;
mod callers;
mod deployments;
mod reads;
mod writes;

use quillgate_worker::app::admission::Facts;
use quillgate_worker::app::config::Config;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::jobs::write::Write;
use serde_json::json;

use crate::fixtures::{
    Outcome, RequestHead, bearer, bearer_of, claims_with, configuration, summarize,
};

const CREATE: &str = "https://gate.example/v2/agent/demo-docs/job";
const JOB: &str = "https://gate.example/v2/agent/demo-docs/job/j1";
const MESSAGE: &str = "https://gate.example/v2/agent/demo-docs/job/j1/message";
const EVENTS: &str = "https://gate.example/v2/agent/demo-docs/job/j1/events";
const JOBS: &str = "https://gate.example/v2/agent/demo-docs/jobs";
const ALL_EVENTS: &str = "https://gate.example/v2/agent/demo-docs/jobs/events";
const VIEWS: &str = "https://gate.example/v1/analytics/demo-docs/views";
const DEEP: &str = "https://gate.example/healthz?deep";
/// Seven operations, each with its method, URL, scope and route.
const OPERATIONS: [(&str, &str, &str, &str); 7] = {
    let (create, read, views) = ("jobs:create", "jobs:read", "analytics:read");
    let message = "/v2/agent/{projectId}/job/{id}/message";
    [
        ("POST", CREATE, create, "/v2/agent/{projectId}/job"),
        ("GET", JOB, read, "/v2/agent/{projectId}/job/{id}"),
        ("POST", MESSAGE, create, message),
        ("GET", EVENTS, read, "/v2/agent/{projectId}/job/{id}/events"),
        ("GET", JOBS, read, "/v2/agent/{projectId}/jobs"),
        ("GET", ALL_EVENTS, read, "/v2/agent/{projectId}/jobs/events"),
        ("GET", VIEWS, views, "/v1/analytics/{projectId}/views"),
    ]
};

const BODY: &[u8] = br#"{"prompt":"x"}"#;

fn get<'a>(url: &'a str, authorization: &'a str) -> RequestHead<'a> {
    bare("GET", url).authorization(authorization)
}

fn post<'a>(url: &'a str, authorization: &'a str) -> RequestHead<'a> {
    let head = bare("POST", url).authorization(authorization);
    head.content_type("application/json")
}

/// Returns the `Authorization` value for a gateway token with `scope`.
fn with_scope(scope: &str) -> String {
    bearer_of(&claims_with("scope", Some(json!(scope))))
}

fn bare<'a>(method: &'a str, url: &'a str) -> RequestHead<'a> {
    RequestHead::new(method, url)
}

fn admit(head: &RequestHead<'_>) -> Outcome {
    crate::fixtures::admit(&configuration(), head)
}

#[track_caller]
fn expect_refusal(head: &RequestHead<'_>) -> Problem {
    admit(head).result.unwrap_err()
}

/// Returns the status and the kind of the problem for a refused request.
#[track_caller]
fn refusal(head: &RequestHead<'_>) -> String {
    summarize(&expect_refusal(head))
}

/// Reads a write with a body, after its head was admitted.
#[track_caller]
fn read_write(
    config: &Config,
    facts: Facts,
    head: &RequestHead<'_>,
    headers: &HeaderFields,
    body: &[u8],
) -> Result<Write, Problem> {
    let (values, project) = (facts.values.unwrap(), facts.project.unwrap());
    assert_eq!(values.project.as_ref(), Some(&project));
    let operation = values.operation;
    let mut head = head.read();
    head.headers = headers.clone().or(head.headers);
    let (call, caller) = (values.parse_with_body(body)?, facts.caller.unwrap());
    Write::read(operation, &call, &project, &head, &caller, &config.jobs)
}

/// Returns a write with the [`bearer`] token.
fn accept(
    config: &Config,
    url: &str,
    headers: &HeaderFields,
    body: &[u8],
) -> Result<Write, Problem> {
    let bearer = bearer();
    let head = post(url, &bearer);
    read_write(config, admit(&head).facts, &head, headers, body)
}

#[track_caller]
fn write(config: &Config, url: &str, headers: &HeaderFields) -> Write {
    accept(config, url, headers, BODY).unwrap()
}
