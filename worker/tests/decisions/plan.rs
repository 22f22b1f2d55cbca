//! What is planned for a whole request, and in which order its parts are checked.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use quillgate::Policy;
use quillgate::{Endpoint as _, GetAgentJob, JobId, Method, ProjectId, Request};
use quillgate_worker::config::Config;
use quillgate_worker::content::LARGEST_BODY;
use quillgate_worker::cors::Origin;
use quillgate_worker::identity::caller::OPERATE;
use quillgate_worker::identity::{Signature, VerifiedTokens};
use quillgate_worker::jobs::idempotency::Retry;
use quillgate_worker::jobs::ledger::{self, Position};
use quillgate_worker::plan::{
    self, Action, AdmittedWrite, Plan, RequestHead, Write, WriteHeaders, is_liveness, plan_write,
};
use quillgate_worker::problem::Problem;
use quillgate_worker::reports::query::ReportQuery;
use quillgate_worker::turnstile::TurnstileProof;
use serde_json::{Value, json};

use crate::fixtures::{
    NOW, SECONDS, bearer, bearer_of, claims_with, configuration, configure, encode, field_and_rule,
    issuer_token, status_and_kind, to_json,
};

const CREATE: &str = "https://gate.example/v2/agent/demo-docs/job";
const JOB: &str = "https://gate.example/v2/agent/demo-docs/job/j1";
const MESSAGE: &str = "https://gate.example/v2/agent/demo-docs/job/j1/message";
const EVENTS: &str = "https://gate.example/v2/agent/demo-docs/job/j1/events";
const JOBS: &str = "https://gate.example/v2/agent/demo-docs/jobs";
const VIEWS: &str = "https://gate.example/v1/analytics/demo-docs/views";
const DEEP: &str = "https://gate.example/healthz?deep";
const DESCRIPTION: &str = "https://gate.example/openapi.json";

/// Every operation: its method, an address of it, its scope and its pattern.
const OPERATIONS: [(&str, &str, &str, &str); 6] = [
    ("POST", CREATE, "jobs:create", "/v2/agent/{projectId}/job"),
    ("GET", JOB, "jobs:read", "/v2/agent/{projectId}/job/{id}"),
    (
        "POST",
        MESSAGE,
        "jobs:create",
        "/v2/agent/{projectId}/job/{id}/message",
    ),
    (
        "GET",
        EVENTS,
        "jobs:read",
        "/v2/agent/{projectId}/job/{id}/events",
    ),
    ("GET", JOBS, "jobs:read", "/v2/agent/{projectId}/jobs"),
    (
        "GET",
        VIEWS,
        "analytics:read",
        "/v1/analytics/{projectId}/views",
    ),
];

const BODY: &[u8] = br#"{"prompt":"x"}"#;
/// 32 bytes, for signing webhooks.
const WEBHOOK_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A gateway on which callers may name two hosts, one of which is not public.
const HOOKS: [(&str, Option<&str>); 2] = [
    ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
    ("WEBHOOK_HOSTS", Some("hooks.example.com,10.0.0.1")),
];

fn get<'a>(url: &'a str, authorization: &'a str) -> RequestHead<'a> {
    RequestHead {
        method: "GET",
        url,
        authorization: Some(authorization),
        ..RequestHead::default()
    }
}

fn post<'a>(url: &'a str, authorization: &'a str) -> RequestHead<'a> {
    RequestHead {
        method: "POST",
        content_type: Some("application/json"),
        ..get(url, authorization)
    }
}

/// Without a token.
fn bare<'a>(method: &'a str, url: &'a str) -> RequestHead<'a> {
    RequestHead {
        method,
        url,
        ..RequestHead::default()
    }
}

fn plan(head: &RequestHead<'_>) -> Plan {
    plan_by(&configuration(), head)
}

/// The plan before the host has verified any signature.
fn plan_by(config: &Config, head: &RequestHead<'_>) -> Plan {
    plan_with(config, head, Signature::Unverified)
}

fn plan_with(config: &Config, head: &RequestHead<'_>, signature: Signature) -> Plan {
    plan::plan(config, head, NOW, signature, &mut VerifiedTokens::default())
}

#[track_caller]
fn expect_refusal(head: &RequestHead<'_>) -> Problem {
    match plan(head).action {
        Ok(_) => panic!("not refused: {head:?}"),
        Err(problem) => problem,
    }
}

#[track_caller]
fn expect_action(head: &RequestHead<'_>) -> Action {
    match plan(head).action {
        Ok(action) => action,
        Err(problem) => panic!("refused: {head:?}: {}", problem.detail),
    }
}

#[track_caller]
fn expect_job(head: &RequestHead<'_>) -> (Request, String) {
    match expect_action(head) {
        Action::ReadJob { request, job } => (request, job.as_str().to_owned()),
        _ => panic!("no job: {head:?}"),
    }
}

#[track_caller]
fn expect_views(head: &RequestHead<'_>) -> ReportQuery {
    match expect_action(head) {
        Action::ReadReport(views) => views,
        _ => panic!("no views: {head:?}"),
    }
}

#[track_caller]
fn expect_jobs(head: &RequestHead<'_>) -> (u64, Option<Position>) {
    match expect_action(head) {
        Action::ListJobs { limit, before } => (limit, before),
        _ => panic!("no list: {head:?}"),
    }
}

#[track_caller]
fn expect_events(head: &RequestHead<'_>) -> String {
    match expect_action(head) {
        Action::StreamEvents(job) => job.as_str().to_owned(),
        _ => panic!("no events: {head:?}"),
    }
}

#[track_caller]
fn admit(head: &RequestHead<'_>) -> AdmittedWrite {
    match expect_action(head) {
        Action::ReadBody(admitted) => admitted,
        _ => panic!("no body is read: {head:?}"),
    }
}

/// What becomes of an admitted request that writes, with these header headers and this body.
fn accept(
    config: &Config,
    url: &str,
    headers: &WriteHeaders,
    body: &[u8],
) -> Result<Write, Problem> {
    let admitted = admit(&post(url, &bearer()));
    let (write, proof) = plan_write(config, &admitted, headers, body)?;
    assert_eq!(proof, None, "it comes from no page");
    Ok(write)
}

#[track_caller]
fn write(config: &Config, url: &str, headers: &WriteHeaders) -> Write {
    let accepted = accept(config, url, headers, BODY);
    accepted.map_err(|problem| problem.detail).unwrap()
}

fn with_key(key: &str) -> WriteHeaders {
    WriteHeaders {
        idempotency_key: Some(key.to_owned()),
        ..WriteHeaders::default()
    }
}

fn with_webhook(url: &str) -> WriteHeaders {
    WriteHeaders {
        webhook_url: Some(url.to_owned()),
        ..WriteHeaders::default()
    }
}

fn pair(field: &str, rule: &str) -> (String, String) {
    (field.to_owned(), rule.to_owned())
}

#[test]
fn a_valid_request_goes_upstream_rebuilt() {
    let bearer = bearer();
    let asked = expect_views(&get(&format!("{VIEWS}?offset=5&&%6cimit=010"), &bearer));
    assert_eq!(asked.list, "/v1/analytics/demo-docs/views");
    assert_eq!((asked.limit, asked.offset), (10, 5));

    let (request, id) = expect_job(&get(
        "https://gate.example/v2/agent/other%20docs/job/j;1",
        &bearer,
    ));
    let target = "/v2/agent/other%20docs/job/j%3B1".to_owned();
    assert_eq!(
        request,
        Request {
            method: Method::Get,
            target,
            body: None
        }
    );
    assert_eq!(id, "j;1");

    let write = write(&configuration(), CREATE, &WriteHeaders::default());
    assert_eq!(write.target, "/v2/agent/demo-docs/job");
    assert_eq!(write.body, r#"{"prompt":"x"}"#);
}

#[test]
fn events_are_those_of_the_job_in_the_path() {
    let bearer = bearer();
    assert_eq!(expect_events(&get(EVENTS, &bearer)), "j1");
    let encoded = "https://gate.example/v2/agent/other%20docs/job/%6a%20;1/events?&";
    let planned = plan(&get(encoded, &bearer));
    assert_eq!(
        planned.project.as_ref().map(ProjectId::as_str),
        Some("other docs")
    );
    assert_eq!(expect_events(&get(encoded, &bearer)), "j ;1");
    let problem = expect_refusal(&get(&format!("{EVENTS}?wait=25"), &bearer));
    assert_eq!(field_and_rule(&problem), pair("wait", "unknown"));
}

#[test]
fn a_list_of_jobs_has_25_from_the_newest_on_unless_the_query_says_otherwise() {
    let bearer = bearer();
    let asked = |query: &str| expect_jobs(&get(&format!("{JOBS}{query}"), &bearer));
    assert_eq!(asked(""), (25, None));
    assert_eq!(asked("?limit=1"), (1, None));
    assert_eq!(asked("?limit=100"), (100, None));
    let job = Position {
        created: 1_766_000_000_000,
        row: 7,
    };
    let cursor = ledger::encode_cursor(&job);
    let query = format!("?cursor={cursor}&limit=5");
    assert_eq!(asked(&query), (5, Some(job)));
}

#[test]
fn a_list_that_cannot_be_is_refused() {
    let bearer = bearer();
    for (query, field, rule) in [
        ("limit=0", "limit", "job-page-size"),
        ("limit=101", "limit", "job-page-size"),
        ("limit=1&limit=1", "limit", "once"),
        ("cursor=", "cursor", "not-empty"),
        ("cursor=x", "cursor", "cursor"),
        ("cursor=MS4x%20", "cursor", "cursor"),
        ("cursor=MS4x%3D", "cursor", "cursor"),
        ("cursor=%00", "cursor", "cursor"),
        ("offset=0", "offset", "unknown"),
        ("id=j1", "id", "unknown"),
    ] {
        let problem = expect_refusal(&get(&format!("{JOBS}?{query}"), &bearer));
        assert_eq!(problem.status, 400);
        assert_eq!(field_and_rule(&problem), pair(field, rule), "{query}");
    }
    for text in ["-1.1", "1.", "18446744073709551616.1", "{}"] {
        let url = format!("{JOBS}?cursor={}", encode(text));
        let problem = expect_refusal(&get(&url, &bearer));
        assert_eq!(field_and_rule(&problem), pair("cursor", "cursor"));
    }
}

#[test]
fn rows_past_the_last_that_can_be_counted_are_refused() {
    let url = format!("{VIEWS}?offset=9007199254740991");
    let problem = expect_refusal(&get(&url, &bearer()));
    assert_eq!(field_and_rule(&problem), pair("offset", "offset"));
}

#[test]
fn a_plan_has_what_is_known_of_its_request() {
    let bearer = bearer();
    for (method, url, _, pattern) in OPERATIONS {
        let head = RequestHead {
            method,
            ..post(url, &bearer)
        };
        let planned = plan(&head);
        assert!(planned.action.is_ok(), "{url}");
        assert_eq!(planned.route, Some(pattern));
        assert_eq!(
            planned.project.as_ref().map(ProjectId::as_str),
            Some("demo-docs")
        );
        assert_eq!(planned.origin, Origin::Own);
        let caller = planned.caller.unwrap();
        assert_eq!(caller.subject, "alice");
        assert_eq!(caller.key(), "quillgate alice");
    }
    let other = plan(&get(&VIEWS.replace("demo-docs", "secret"), &bearer));
    assert_eq!(other.caller.unwrap().subject, "alice");
    assert_eq!(other.project, None, "it is not the caller's");
    let stranger = plan(&bare("GET", VIEWS));
    assert_eq!(stranger.route, Some("/v1/analytics/{projectId}/views"));
    assert_eq!((stranger.caller, stranger.project), (None, None));
}

#[test]
fn the_project_that_is_checked_is_the_one_that_is_sent() {
    let bearer = bearer();
    for (segment, rule) in [
        ("demo-docs%2f..%2fsecret", "path-segment"),
        ("demo-docs%3f", "path-segment"),
        ("demo-docs%23", "path-segment"),
        ("demo-docs%00", "path-segment"),
        ("%2e%2e", "not-dot-segment"),
        (".", "not-dot-segment"),
    ] {
        for (method, url, ..) in OPERATIONS {
            let url = url.replace("demo-docs", segment);
            let problem = expect_refusal(&RequestHead {
                method,
                ..post(&url, &bearer)
            });
            assert_eq!(field_and_rule(&problem), pair("projectId", rule), "{url}");
        }
    }
    for segment in [
        "Demo-docs",
        "demo-docs%20",
        "demo%2Ddocs2",
        "demo-docs;x",
        "demo%E2%80%90docs",
        "other+docs",
        "*",
    ] {
        for (method, url, ..) in OPERATIONS {
            let url = url.replace("demo-docs", segment);
            let problem = expect_refusal(&RequestHead {
                method,
                ..post(&url, &bearer)
            });
            assert_eq!(problem.kind.as_str(), "project-not-allowed", "{url}");
        }
    }
    let (encoded, _) = expect_job(&get(
        "https://gate.example/v2/agent/%64emo-docs/job/j1",
        &bearer,
    ));
    assert_eq!(encoded.target, "/v2/agent/demo-docs/job/j1");
}

/// Refused by its head, or else with its body: what that says is checked with the path.
#[track_caller]
fn expect_refusal_in_the_end(head: &RequestHead<'_>) -> Problem {
    match plan(head).action {
        Err(problem) => problem,
        Ok(Action::ReadBody(admitted)) => {
            let headers = WriteHeaders::default();
            plan_write(&configuration(), &admitted, &headers, BODY).unwrap_err()
        }
        Ok(_) => panic!("no body is read: {head:?}"),
    }
}

#[test]
fn a_job_id_is_never_a_step_in_the_path() {
    let bearer = bearer();
    for (id, rule) in [
        ("..", "not-dot-segment"),
        (".", "not-dot-segment"),
        ("%2e.", "not-dot-segment"),
        ("%2E", "not-dot-segment"),
        ("%252e%252e", "path-segment"),
        ("j1%2fmessage", "path-segment"),
        ("j1%0d%0a", "path-segment"),
    ] {
        for url in [JOB, EVENTS, MESSAGE] {
            let url = url.replace("j1", id);
            let problem = if url.ends_with("/message") {
                expect_refusal_in_the_end(&post(&url, &bearer))
            } else {
                expect_refusal(&get(&url, &bearer))
            };
            assert_eq!(field_and_rule(&problem), pair("id", rule), "{url}");
        }
    }
}

#[test]
fn each_operation_needs_its_own_scope() {
    for (method, url, scope, _) in OPERATIONS {
        for held in ["jobs:create", "jobs:read", "analytics:read", OPERATE, ""] {
            let bearer = bearer_of(&claims_with("scope", Some(json!(held))));
            let head = RequestHead {
                method,
                ..post(url, &bearer)
            };
            match plan(&head).action {
                Ok(_) => assert_eq!(held, scope, "{method} {url}"),
                Err(problem) => {
                    assert_eq!(problem.kind.as_str(), "insufficient-scope");
                    assert_ne!(held, scope, "{method} {url}");
                    let named = format!("scope=\"{scope}\"");
                    assert!(problem.headers[0].1.ends_with(&named), "{problem:?}");
                }
            }
        }
    }
}

#[test]
fn only_operators_learn_how_the_upstream_is() {
    let all = "jobs:create jobs:read analytics:read";
    let bearer = bearer_of(&claims_with("scope", Some(json!(all))));
    let planned = plan(&get(DEEP, &bearer));
    assert_eq!(planned.route, Some("/healthz"));
    assert_eq!(planned.caller.unwrap().subject, "alice");
    let problem = planned.action.err().unwrap();
    assert_eq!(status_and_kind(&problem), (403, "insufficient-scope"));
    let named = format!("scope=\"{OPERATE}\"");
    assert!(problem.headers[0].1.ends_with(&named), "{problem:?}");

    let stranger = expect_refusal(&bare("GET", DEEP));
    assert_eq!(status_and_kind(&stranger), (401, "missing-token"));
    assert_eq!(
        expect_refusal(&get(DEEP, "Bearer x")).kind.as_str(),
        "invalid-token"
    );

    let mut claims = claims_with("scope", Some(json!(OPERATE)));
    claims["projects"] = json!([]);
    let operator = bearer_of(&claims);
    let asked = |method, url: &str| {
        let head = RequestHead {
            method,
            ..get(url, &operator)
        };
        match expect_action(&head) {
            Action::AnswerHealth(project) => project,
            _ => panic!("{method} {url}"),
        }
    };
    let base = "https://gate.example/healthz";
    for (query, project) in [
        ("?deep", None),
        ("?deep=", None),
        ("?deep=0", None),
        ("?x&deep", None),
        ("?deep&project=demo-docs", Some("demo-docs")),
        ("?project=other%20docs&deep=1", Some("other docs")),
        ("?deep#&project=x", None),
    ] {
        for method in ["GET", "HEAD"] {
            let found = asked(method, &format!("{base}{query}"));
            assert_eq!(found.as_deref(), project, "{query}");
        }
    }
    let posted = expect_refusal(&post(DEEP, &operator));
    assert_eq!(status_and_kind(&posted), (405, "method-not-allowed"));
    let page = RequestHead {
        origin: Some("https://evil.example"),
        ..get(DEEP, &operator)
    };
    assert_eq!(expect_refusal(&page).kind.as_str(), "origin-not-allowed");
}

#[test]
fn an_operator_opens_what_the_upstream_has_closed_and_nobody_else_does() {
    let operator = bearer_of(&claims_with("scope", Some(json!(OPERATE))));
    let closures = "https://gate.example/healthz/closures/";
    let reopen = |rest: &str, authorization: &str| {
        let url = format!("{closures}{rest}");
        plan(&RequestHead {
            method: "DELETE",
            ..get(&url, authorization)
        })
    };
    for (rest, policy, project) in [
        (
            "create-job?project=demo-docs",
            Policy::CreateJob,
            Some("demo-docs"),
        ),
        (
            "send-message?project=other%20docs",
            Policy::SendMessage,
            Some("other docs"),
        ),
        ("analytics", Policy::Analytics, None),
    ] {
        let planned = reopen(rest, &operator);
        let found = planned.project.as_ref().map(ProjectId::as_str);
        assert_eq!(found, project, "{rest}");
        assert_eq!(planned.route, Some("/healthz/closures/{policy}"));
        match planned.action {
            Ok(Action::Reopen(found)) => assert_eq!(found, policy),
            other => panic!("{rest}: {other:?}"),
        }
        for (authorization, expected) in [
            (bearer(), (403, "insufficient-scope")),
            ("Bearer x".to_owned(), (401, "invalid-token")),
        ] {
            let problem = reopen(rest, &authorization).action.unwrap_err();
            assert_eq!(status_and_kind(&problem), expected, "{rest}");
        }
    }
    for rest in ["read-jobs", "create", "", "create-job/"] {
        let problem = reopen(rest, &operator).action.unwrap_err();
        assert_eq!(status_and_kind(&problem), (404, "not-found"), "{rest}");
    }
    for rest in [
        "create-job",
        "create-job?project=",
        "send-message?project=%",
    ] {
        let problem = reopen(rest, &operator).action.unwrap_err();
        let item = &problem.members["errors"][0];
        assert_eq!((problem.status, &item["field"]), (400, &json!("project")));
        assert_eq!(item["rule"], "not-empty");
    }
    for method in ["GET", "HEAD", "POST", "PUT"] {
        let url = format!("{closures}analytics");
        let problem = expect_refusal(&bare(method, &url));
        assert_eq!(status_and_kind(&problem), (405, "method-not-allowed"));
        assert_eq!(problem.headers, [("allow", "DELETE, OPTIONS".to_owned())]);
    }
}

#[test]
fn the_gateway_is_described_to_everybody() {
    for method in ["GET", "HEAD"] {
        for authorization in [None, Some("Bearer x"), Some("Basic eDp5")] {
            for query in ["", "?x=1"] {
                let url = format!("{DESCRIPTION}{query}");
                let head = RequestHead {
                    authorization,
                    ..bare(method, &url)
                };
                let planned = plan(&head);
                assert!(matches!(planned.action, Ok(Action::Describe)));
                assert_eq!(planned.route, Some("/openapi.json"));
                assert_eq!((planned.caller, planned.project), (None, None));
            }
        }
    }
    for method in ["POST", "PUT", "DELETE", "get"] {
        let problem = expect_refusal(&bare(method, DESCRIPTION));
        assert_eq!(problem.status, 405, "{method}");
        assert_eq!(
            problem.headers,
            [("allow", "GET, HEAD, OPTIONS".to_owned())]
        );
    }
    let asked = plan(&bare("OPTIONS", DESCRIPTION)).action;
    assert!(matches!(asked, Ok(Action::AnswerOptions(methods)) if methods == ["GET", "HEAD"]));
    for path in [
        "/openapi.json/",
        "/OpenAPI.json",
        "//openapi.json",
        "/openapi%2ejson",
        "/openapi.yaml",
        "/v2/openapi.json",
    ] {
        let url = format!("https://gate.example{path}");
        assert_eq!(
            expect_refusal(&bare("GET", &url)).kind.as_str(),
            "not-found",
            "{path}"
        );
    }
    let page = RequestHead {
        origin: Some("https://evil.example"),
        ..bare("GET", DESCRIPTION)
    };
    assert_eq!(expect_refusal(&page).kind.as_str(), "origin-not-allowed");
}

#[test]
fn a_stranger_learns_which_routes_there_are_and_nothing_else() {
    for (method, url, kind) in [
        (
            "GET",
            "https://gate.example/v2/agent/demo-docs/tasks",
            "not-found",
        ),
        ("PUT", CREATE, "method-not-allowed"),
        ("POST", JOBS, "method-not-allowed"),
        ("POST", CREATE, "missing-token"),
        ("POST", MESSAGE, "missing-token"),
        ("GET", EVENTS, "missing-token"),
        (
            "GET",
            "https://gate.example/v2/agent/demo-docs/jobs?limit=0&cursor=x",
            "missing-token",
        ),
        (
            "GET",
            "https://gate.example/v2/agent/%2f/job/%2f",
            "missing-token",
        ),
        (
            "GET",
            "https://gate.example/v2/agent/%2f/job/../events",
            "missing-token",
        ),
        (
            "GET",
            "https://gate.example/v1/analytics/demo-docs/views?limit=0&x",
            "missing-token",
        ),
    ] {
        let head = RequestHead {
            content_length: Some("999999999"),
            ..bare(method, url)
        };
        assert_eq!(expect_refusal(&head).kind.as_str(), kind, "{method} {url}");
    }
}

#[test]
fn a_caller_of_another_project_does_not_learn_what_is_wrong_with_the_rest() {
    let bearer = bearer();
    for path in [
        "/v1/analytics/secret/views?limit=0&x",
        "/v2/agent/secret/jobs?limit=0&cursor=x",
        "/v2/agent/secret/job/..",
        "/v2/agent/secret/job/../events?x",
    ] {
        let url = format!("https://gate.example{path}");
        assert_eq!(
            expect_refusal(&get(&url, &bearer)).kind.as_str(),
            "project-not-allowed",
            "{path}"
        );
    }
    let body = RequestHead {
        content_type: None,
        content_length: Some("999999999"),
        ..post("https://gate.example/v2/agent/secret/job", &bearer)
    };
    assert_eq!(expect_refusal(&body).kind.as_str(), "project-not-allowed");
}

#[test]
fn a_body_is_refused_by_what_its_head_says() {
    let bearer = bearer();
    for url in [CREATE, MESSAGE] {
        for content_type in [
            None,
            Some("text/plain"),
            Some("application/json, text/plain"),
        ] {
            let problem = expect_refusal(&RequestHead {
                content_type,
                ..post(url, &bearer)
            });
            assert_eq!(status_and_kind(&problem), (415, "unsupported-media-type"));
            assert_eq!(
                problem.headers,
                [("accept-post", "application/json".to_owned())]
            );
        }
        let announced = |length: &str| {
            let head = RequestHead {
                content_length: Some(length),
                ..post(url, &bearer)
            };
            plan(&head).action.map_err(|problem| problem.status).err()
        };
        assert_eq!(announced(&LARGEST_BODY.to_string()), None);
        assert_eq!(announced(&(LARGEST_BODY + 1).to_string()), Some(413));
        assert_eq!(announced(&u64::MAX.to_string()), Some(413));
        // What is not a number announces nothing: the bytes are counted as they come.
        assert_eq!(announced("many"), None);
    }
    // What is only read has no body to refuse.
    for url in [JOB, JOBS, EVENTS, VIEWS] {
        let head = RequestHead {
            content_type: Some("text/plain"),
            content_length: Some("999999999"),
            ..get(url, &bearer)
        };
        assert!(plan(&head).action.is_ok(), "{url}");
    }
}

#[test]
fn a_request_that_writes_takes_no_query() {
    let bearer = bearer();
    for url in [CREATE, MESSAGE] {
        for query in ["prompt=x", "id=j2", "projectId=secret", "x"] {
            let url = format!("{url}?{query}");
            let problem = expect_refusal(&post(&url, &bearer));
            let (_, rule) = field_and_rule(&problem);
            assert_eq!(rule, "unknown", "{url}");
        }
    }
}

#[test]
fn a_question_for_options_needs_no_token_and_an_allowed_origin() {
    for (method, url, ..) in OPERATIONS {
        let preflight = RequestHead {
            origin: Some("https://docs.example"),
            ..bare("OPTIONS", url)
        };
        let planned = plan(&preflight);
        assert_eq!(
            planned.origin,
            Origin::Allowed("https://docs.example".to_owned())
        );
        let expected: &[_] = if method == "GET" {
            &["GET", "HEAD"]
        } else {
            &[method]
        };
        assert!(
            matches!(planned.action, Ok(Action::AnswerOptions(methods)) if methods == expected),
            "{url}"
        );
        let evil = RequestHead {
            origin: Some("https://evil.example"),
            ..preflight
        };
        assert_eq!(expect_refusal(&evil).kind.as_str(), "origin-not-allowed");
    }
    let nowhere = RequestHead {
        origin: Some("https://docs.example"),
        ..bare("OPTIONS", "https://gate.example/v2/x")
    };
    assert_eq!(expect_refusal(&nowhere).kind.as_str(), "not-found");
}

#[test]
fn an_origin_that_is_not_allowed_is_refused_before_its_token_is_looked_at() {
    let bearer = bearer();
    for origin in ["https://evil.example", "null"] {
        for url in [VIEWS, JOBS, EVENTS, DEEP] {
            let with_token = RequestHead {
                origin: Some(origin),
                ..get(url, &bearer)
            };
            let planned = plan(&with_token);
            assert_eq!(
                planned.origin,
                Origin::Own,
                "its page may not read the answer"
            );
            assert_eq!(
                planned.action.err().unwrap().kind.as_str(),
                "origin-not-allowed"
            );
            let without = RequestHead {
                authorization: None,
                ..with_token
            };
            assert_eq!(expect_refusal(&without).kind.as_str(), "origin-not-allowed");
        }
    }
}

#[test]
fn a_page_elsewhere_cannot_use_the_cookie_of_a_person() {
    let asked = |site, authorization| {
        let head = RequestHead {
            authorization,
            access_assertion: Some("x.y.z"),
            fetch_site: site,
            ..get(VIEWS, "")
        };
        expect_refusal(&head).kind.as_str()
    };
    assert_eq!(asked(Some("cross-site"), None), "origin-not-allowed");
    for site in [None, Some("same-origin"), Some("same-site"), Some("none")] {
        assert_eq!(asked(site, None), "missing-token", "{site:?}");
    }
    // A page that was given a token has it from somebody.
    assert_eq!(asked(Some("cross-site"), Some("Bearer x")), "invalid-token");
}

#[test]
fn a_refusal_can_be_read_by_an_allowed_page() {
    let head = RequestHead {
        origin: Some("https://docs.example"),
        ..get(VIEWS, "Bearer x")
    };
    let planned = plan(&head);
    assert_eq!(
        planned.origin,
        Origin::Allowed("https://docs.example".to_owned())
    );
    assert_eq!(planned.action.err().unwrap().status, 401);
}

#[test]
fn only_the_liveness_route_itself_is_answered_without_a_configuration() {
    for (method, url, expected) in [
        ("GET", "https://h/healthz", true),
        ("HEAD", "https://h/healthz?x", true),
        ("GET", "https://h/healthz?", true),
        ("GET", "https://h/healthz?deeper&x=deep&project=x", true),
        ("GET", "https://h/healthz#?deep", true),
        ("GET", "https://h/healthz?deep", false),
        ("HEAD", "https://h/healthz?deep", false),
        ("GET", "https://h/healthz?x=1&deep=0&y", false),
        ("POST", "https://h/healthz", false),
        ("GET", "https://h/healthz/", false),
        ("GET", "https://h/Healthz", false),
        ("GET", "https://h//healthz", false),
        ("GET", "https://h/healthz%2f..%2fv2", false),
        ("GET", "https://h/v2/agent/x/job/healthz", false),
        ("GET", "https://h/x#/healthz", false),
        ("GET", "https://h/x?/healthz", false),
        ("GET", "https://h/openapi.json", false),
    ] {
        let head = RequestHead {
            method,
            ..get(url, "")
        };
        assert_eq!(is_liveness(&head), expected, "{method} {url}");
        let healthy = matches!(plan(&head).action, Ok(Action::AnswerLiveness));
        assert_eq!(healthy, expected, "{method} {url}");
    }
    let post = RequestHead {
        method: "POST",
        ..get("https://h/healthz", "")
    };
    assert_eq!(to_json(&expect_refusal(&post))["status"], 405);
}

#[test]
fn a_plan_without_a_request_says_nothing_else() {
    let healthy = Plan::healthy();
    assert!(matches!(healthy.action, Ok(Action::AnswerLiveness)));
    assert_eq!(healthy.route, Some("/healthz"));
    let refused = Plan::refused(Problem::internal());
    assert_eq!(refused.action.err(), Some(Problem::internal()));
    assert_eq!(refused.route, None);
    for caller in [healthy.caller, refused.caller] {
        assert_eq!(caller, None);
    }
    assert_eq!((healthy.project, refused.project), (None, None));
    assert_eq!((healthy.origin, refused.origin), (Origin::Own, Origin::Own));
}

// --- a trusted issuer's token ------------------------------------------------

const ISSUERS: &str = r#"[{
    "issuer": "https://issuer.example",
    "audience": "quillgate",
    "jwks": "https://issuer.example/jwks",
    "rules": [
        {
            "claims": { "team": "docs" },
            "projects": ["demo-docs"],
            "scope": "jobs:create jobs:read analytics:read",
            "quota": { "create-job": 4 }
        },
        { "claims": { "admin": true }, "projects": [], "scope": "gateway:operate" }
    ]
}]"#;

fn issuers_bearer(claims: &Value) -> String {
    let mut all = json!({
        "iss": "https://issuer.example",
        "aud": "quillgate",
        "sub": "bob",
        "exp": SECONDS + 300,
    });
    let claims = claims.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(claims);
    let token = issuer_token(r#"{"alg":"RS256","kid":"key-1"}"#, &all.to_string());
    format!("Bearer {token}")
}

#[test]
fn an_issuers_token_is_verified_before_anything_is_decided_by_it() {
    let config = configure(&[("TRUSTED_ISSUERS", Some(ISSUERS))]);
    let bearer = issuers_bearer(&json!({ "team": "docs", "admin": true }));
    let asked = OPERATIONS.map(|(method, url, ..)| (method, url));
    for (method, url) in asked.into_iter().chain([("GET", DEEP)]) {
        let head = RequestHead {
            method,
            ..post(url, &bearer)
        };
        let unverified = plan_with(&config, &head, Signature::Unverified);
        assert_eq!(unverified.caller, None, "{url}");
        assert_eq!(unverified.project, None, "{url}");
        let Ok(Action::VerifySignature(token)) = unverified.action else {
            panic!("{url}");
        };
        assert_eq!(token.jwks, "https://issuer.example/jwks");
        assert_eq!(token.kid, "key-1");
        let verified = plan_with(&config, &head, Signature::Verified);
        assert_eq!(verified.caller.unwrap().key(), "https://issuer.example bob");
        assert!(
            !matches!(verified.action, Err(_) | Ok(Action::VerifySignature(_))),
            "{url}"
        );
    }
}

#[test]
fn a_verified_token_is_still_held_to_its_projects_and_scopes() {
    let config = configure(&[("TRUSTED_ISSUERS", Some(ISSUERS))]);
    let kind = |token: &str, url: &str| {
        let planned = plan_with(&config, &get(url, token), Signature::Verified);
        planned.action.err().unwrap().kind.as_str()
    };
    let docs = issuers_bearer(&json!({ "team": "docs" }));
    assert_eq!(kind(&docs, DEEP), "insufficient-scope");
    let secret = JOBS.replace("demo-docs", "secret");
    assert_eq!(kind(&docs, &secret), "project-not-allowed");
    let admin = issuers_bearer(&json!({ "admin": true }));
    assert_eq!(kind(&admin, JOBS), "project-not-allowed");
    let expired = issuers_bearer(&json!({ "team": "docs", "exp": SECONDS - 61 }));
    assert_eq!(kind(&expired, JOBS), "invalid-token");
}

#[test]
fn an_issuers_rule_gives_its_callers_their_quota() {
    let config = configure(&[("TRUSTED_ISSUERS", Some(ISSUERS))]);
    let token = issuers_bearer(&json!({ "team": "docs" }));
    for (url, quota) in [(CREATE, Some(4)), (MESSAGE, None)] {
        let planned = plan_with(&config, &post(url, &token), Signature::Verified);
        let Ok(Action::ReadBody(admitted)) = planned.action else {
            panic!("{url}");
        };
        let headers = WriteHeaders::default();
        let (write, proof) = plan_write(&config, &admitted, &headers, BODY).unwrap();
        assert_eq!(proof, None);
        assert_eq!(write.quota, quota);
        assert_eq!(write.caller, "https://issuer.example bob");
        assert_eq!(write.subject, "bob");
    }
}

// --- a request that writes ---------------------------------------------------

#[test]
fn a_request_that_writes_is_rebuilt_with_all_that_is_known_of_it() {
    let config = configure(&[
        ("CREATE_LIMIT_PER_HOUR", Some("7")),
        ("MESSAGE_LIMIT_PER_HOUR", Some("9")),
    ]);
    let body = r#" { "prompt" : "\n\n  Fix the typos \nnow" } "#;
    let created = accept(&config, CREATE, &WriteHeaders::default(), body.as_bytes()).unwrap();
    let expected = Write {
        policy: Policy::CreateJob,
        caller: "quillgate alice".to_owned(),
        subject: "alice".to_owned(),
        quota: None,
        ceilings: Vec::new(),
        job: None,
        key: None,
        fingerprint: created.fingerprint.clone(),
        retry: Retry::Normal,
        target: "/v2/agent/demo-docs/job".to_owned(),
        body: r#"{"prompt":"\n\n  Fix the typos \nnow"}"#.to_owned(),
        prompt_summary: "Fix the typos".to_owned(),
        webhook: None,
    };
    assert_eq!(created, expected);
    assert_eq!(config.limit(created.policy), 7);

    let url = "https://gate.example/v2/agent/other%20docs/job/j%201/message";
    let sent = accept(&config, url, &WriteHeaders::default(), BODY).unwrap();
    let expected = Write {
        policy: Policy::SendMessage,
        job: Some("j 1".to_owned()),
        fingerprint: sent.fingerprint.clone(),
        target: "/v2/agent/other%20docs/job/j%201/message".to_owned(),
        body: r#"{"prompt":"x"}"#.to_owned(),
        prompt_summary: "x".to_owned(),
        ..expected
    };
    assert_eq!(sent, expected);
    assert_eq!(config.limit(sent.policy), 9);
}

#[test]
fn a_write_has_its_tokens_quota_for_the_policy() {
    for (quota, create, message) in [
        (None, None, None),
        (Some(json!(5)), Some(5), Some(5)),
        (Some(json!({ "create-job": 3 })), Some(3), None),
        (
            Some(json!({ "create-job": 3, "send-message": 0 })),
            Some(3),
            Some(0),
        ),
        (Some(json!({ "analytics": 1 })), None, None),
    ] {
        let bearer = bearer_of(&claims_with("quota", quota));
        let quota = |url| {
            let admitted = admit(&post(url, &bearer));
            let headers = WriteHeaders::default();
            let (write, _) = plan_write(&configuration(), &admitted, &headers, BODY).unwrap();
            write.quota
        };
        assert_eq!((quota(CREATE), quota(MESSAGE)), (create, message));
    }
}

#[test]
fn a_body_that_breaks_a_rule_is_refused() {
    let config = configuration();
    let headers = WriteHeaders::default();
    for url in [CREATE, MESSAGE] {
        for (body, field, rule) in [
            ("", "body", "json-object"),
            ("[]", "body", "json-object"),
            (r#"{"prompt":"x","prompt":"y"}"#, "body", "json-object"),
            ("{}", "prompt", "required"),
            (r#"{"prompt":""}"#, "prompt", "not-empty"),
            (r#"{"prompt":1}"#, "prompt", "text"),
            (r#"{"prompt":"x","id":"j2"}"#, "id", "unknown"),
            (
                r#"{"prompt":"x","projectId":"secret"}"#,
                "projectId",
                "unknown",
            ),
            (
                r#"{"prompt":"x","webhook":"https://x.example"}"#,
                "webhook",
                "unknown",
            ),
        ] {
            let problem = accept(&config, url, &headers, body.as_bytes()).unwrap_err();
            assert_eq!(problem.status, 400);
            assert_eq!(field_and_rule(&problem), pair(field, rule), "{body}");
        }
    }
}

#[test]
fn an_idempotency_key_is_the_same_bare_or_quoted() {
    let config = configuration();
    let longest = "k".repeat(255);
    for url in [CREATE, MESSAGE] {
        let without = write(&config, url, &WriteHeaders::default());
        assert_eq!(without.key, None);
        for (header, key) in [
            ("8e03", "8e03"),
            ("\"8e03\"", "8e03"),
            (" \"8e03\"\t", "8e03"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
            ("a:b/c=d", "a:b/c=d"),
            (&longest, &longest),
        ] {
            let write = write(&config, url, &with_key(header));
            assert_eq!(write.key.as_deref(), Some(key), "{header}");
            assert_eq!(
                write.fingerprint, without.fingerprint,
                "the key is not part of it"
            );
        }
    }
}

#[test]
fn an_invalid_idempotency_key_is_refused() {
    let too_long = "k".repeat(256);
    for url in [CREATE, MESSAGE] {
        for header in [
            "",
            " ",
            "\"\"",
            "\"",
            "\"a",
            "a b",
            "a,b",
            "\"a\", \"b\"",
            "\"a\";x=1",
            "ü",
            "a\0",
            &too_long,
        ] {
            let refused = accept(&configuration(), url, &with_key(header), BODY);
            let problem = refused.unwrap_err();
            assert_eq!(problem.status, 400);
            assert_eq!(
                field_and_rule(&problem),
                pair("Idempotency-Key", "idempotency-key"),
                "{header}"
            );
        }
    }
}

#[test]
fn only_force_sends_an_unknown_outcome_again() {
    let with = |retry: Option<&str>| WriteHeaders {
        idempotency_retry: retry.map(str::to_owned),
        ..with_key("8e03")
    };
    let config = configuration();
    for url in [CREATE, MESSAGE] {
        assert_eq!(write(&config, url, &with(None)).retry, Retry::Normal);
        for forced in ["force", "Force", " force "] {
            let write = write(&config, url, &with(Some(forced)));
            assert_eq!(write.retry, Retry::Force);
        }
        for other in ["", "true", "1", "forced", "force, force", "no"] {
            let problem = accept(&config, url, &with(Some(other)), BODY).unwrap_err();
            assert_eq!(
                field_and_rule(&problem),
                pair("Idempotency-Retry", "idempotency-retry"),
                "{other}"
            );
        }
    }
}

#[test]
fn a_job_may_name_where_its_end_is_announced() {
    let config = configure(&HOOKS);
    for (url, webhook) in [
        (
            "https://hooks.example.com/done?t=1",
            "https://hooks.example.com/done?t=1",
        ),
        (
            "HTTPS://Hooks.Example.com/Done",
            "https://hooks.example.com/Done",
        ),
    ] {
        let write = write(&config, CREATE, &with_webhook(url));
        assert_eq!(write.webhook.as_deref(), Some(webhook));
    }
    assert_eq!(
        write(&config, CREATE, &WriteHeaders::default()).webhook,
        None
    );
    for url in [
        "",
        "http://hooks.example.com",
        "https://10.0.0.1/",
        "https://localhost/",
        "https://me:secret-word@hooks.example.com/",
        "/done",
    ] {
        let problem = accept(&config, CREATE, &with_webhook(url), BODY).unwrap_err();
        assert_eq!(
            field_and_rule(&problem),
            pair("Webhook-Url", "webhook-url"),
            "{url}"
        );
        assert!(!problem.to_json("an-id").contains("secret-word"));
    }
    let listed = configure(&[
        ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
        ("WEBHOOK_HOSTS", Some("hooks.example.com")),
    ]);
    write(&listed, CREATE, &with_webhook("https://hooks.example.com/"));
    assert!(
        accept(
            &listed,
            CREATE,
            &with_webhook("https://evil.example.com/"),
            BODY
        )
        .is_err()
    );
}

#[test]
fn where_nothing_can_be_signed_no_webhook_is_taken() {
    for url in ["https://hooks.example.com/", "", "http://x"] {
        let problem = accept(&configuration(), CREATE, &with_webhook(url), BODY).unwrap_err();
        assert_eq!(problem.status, 400);
        assert_eq!(
            field_and_rule(&problem),
            pair("Webhook-Url", "webhooks-off")
        );
    }
}

#[test]
fn where_no_host_is_allowed_only_the_operators_own_address_is_used() {
    let config = configure(&[
        ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
        ("WEBHOOK_URL", Some("https://own.example.com/done")),
    ]);
    for url in [
        "https://hooks.example.com/",
        "https://own.example.com/done",
        "",
    ] {
        let problem = accept(&config, CREATE, &with_webhook(url), BODY).unwrap_err();
        assert_eq!(problem.status, 400);
        assert_eq!(
            field_and_rule(&problem),
            pair("Webhook-Url", "webhook-hosts")
        );
    }
    let own = write(&config, CREATE, &WriteHeaders::default()).webhook;
    assert_eq!(own.as_deref(), Some("https://own.example.com/done"));
}

#[test]
fn a_follow_up_names_no_webhook() {
    let set_up = configure(&HOOKS);
    for config in [configuration(), set_up] {
        let problem = accept(
            &config,
            MESSAGE,
            &with_webhook("https://hooks.example.com/"),
            BODY,
        )
        .unwrap_err();
        assert_eq!(problem.status, 400);
        assert_eq!(field_and_rule(&problem), pair("Webhook-Url", "create-only"));
    }
}

#[test]
fn a_job_that_names_no_webhook_has_the_gateways_own() {
    let config = configure(&[
        ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
        ("WEBHOOK_HOSTS", Some("hooks.example.com")),
        ("WEBHOOK_URL", Some("https://Own.Example.com/done")),
    ]);
    let none = WriteHeaders::default();
    let webhook = |url, headers: &WriteHeaders| write(&config, url, headers).webhook;
    assert_eq!(
        webhook(CREATE, &none).as_deref(),
        Some("https://own.example.com/done")
    );
    assert_eq!(webhook(MESSAGE, &none), None, "its job has it already");
    let other = "https://hooks.example.com/";
    assert_eq!(
        webhook(CREATE, &with_webhook(other)).as_deref(),
        Some(other)
    );
}

const TURNSTILE: [(&str, Option<&str>); 2] = [
    ("TURNSTILE_SECRET", Some("a-secret-of-turnstile")),
    ("TURNSTILE_SITE_KEY", Some("a-site-key")),
];

/// What becomes of a request to write from a page of this origin, or from no page.
fn accept_from(
    config: &Config,
    url: &str,
    origin: Option<&str>,
    response: Option<&str>,
) -> Result<(Write, Option<TurnstileProof>), Problem> {
    let bearer = bearer();
    let head = RequestHead {
        origin,
        ..post(url, &bearer)
    };
    let headers = WriteHeaders {
        turnstile: response.map(str::to_owned),
        ..WriteHeaders::default()
    };
    plan_write(config, &admit(&head), &headers, BODY)
}

#[test]
fn a_page_that_writes_shows_that_a_person_is_there_when_that_is_set_up() {
    let config = configure(&TURNSTILE);
    let longest = "r".repeat(2048);
    for url in [CREATE, MESSAGE] {
        for (origin, hostname) in [
            ("https://docs.example", "docs.example"),
            ("http://localhost:5173", "localhost"),
            ("https://gate.example", "gate.example"),
        ] {
            for response in ["a-response", &longest] {
                let (_, proof) = accept_from(&config, url, Some(origin), Some(response)).unwrap();
                let proof = proof.unwrap();
                assert_eq!((&*proof.response, &*proof.hostname), (response, hostname));
            }
            for response in [None, Some(""), Some(&*format!("{longest}r"))] {
                let problem = accept_from(&config, url, Some(origin), response).unwrap_err();
                assert_eq!(status_and_kind(&problem), (403, "turnstile-required"));
                assert_eq!(to_json(&problem)["siteKey"], "a-site-key");
                assert!(!problem.to_json("an-id").contains("a-secret"));
            }
        }
    }
}

#[test]
fn nobody_else_is_asked_whether_a_person_is_there() {
    let config = configure(&TURNSTILE);
    for url in [CREATE, MESSAGE] {
        for response in [None, Some("a-response")] {
            let (_, no_page) = accept_from(&config, url, None, response).unwrap();
            assert_eq!(no_page, None);
            let page = Some("https://docs.example");
            let (_, not_set_up) = accept_from(&configuration(), url, page, response).unwrap();
            assert_eq!(not_set_up, None);
        }
    }
    let bearer = bearer();
    for url in [JOB, JOBS, EVENTS, VIEWS] {
        let head = RequestHead {
            origin: Some("https://docs.example"),
            ..get(url, &bearer)
        };
        assert!(plan_by(&config, &head).action.is_ok(), "{url}");
    }
}

#[test]
fn a_repetition_shows_another_response_and_is_the_same_request() {
    let config = configure(&TURNSTILE);
    let page = Some("https://docs.example");
    let print = |response| {
        let (write, _) = accept_from(&config, CREATE, page, Some(response)).unwrap();
        write.fingerprint
    };
    assert_eq!(print("first"), print("second"));
    let (no_page, _) = accept_from(&config, CREATE, None, None).unwrap();
    assert_eq!(print("first"), no_page.fingerprint);
}

#[test]
fn a_fingerprint_is_that_of_what_is_done_and_not_of_how_it_is_written() {
    let config = configure(&HOOKS);
    let print = |url, headers: &WriteHeaders, body: &str| {
        let write = accept(&config, url, headers, body.as_bytes());
        write.map_err(|problem| problem.detail).unwrap().fingerprint
    };
    let none = WriteHeaders::default();
    let same = print(CREATE, &none, r#"{"prompt":"x y"}"#);
    // The one member that there is cannot stand in another order.
    for body in [
        "{\"prompt\":\"x y\"}",
        " {\r\n\t\"prompt\" : \"x y\" } \n",
        r#"{"\u0070rompt":"\u0078\u0020y"}"#,
    ] {
        assert_eq!(print(CREATE, &none, body), same, "{body}");
    }
    let encoded = CREATE.replace("demo-docs", "%64emo%2Ddocs");
    let with_query = format!("{CREATE}?&");
    let body = r#"{"prompt":"x y"}"#;
    assert_eq!(print(&encoded, &none, body), same);
    assert_eq!(print(&with_query, &none, body), same);

    let other_project = CREATE.replace("demo-docs", "other%20docs");
    let other_job = MESSAGE.replace("j1", "j2");
    let first_hook = with_webhook("https://hooks.example.com/1");
    let second_hook = with_webhook("https://hooks.example.com/2");
    let mut prints = vec![
        same,
        print(CREATE, &none, r#"{"prompt":"x  y"}"#),
        print(CREATE, &none, r#"{"prompt":"x y "}"#),
        print(CREATE, &none, r#"{"prompt":"X y"}"#),
        print(CREATE, &none, r#"{"prompt":"x y\u0000"}"#),
        print(&other_project, &none, body),
        print(MESSAGE, &none, body),
        print(&other_job, &none, body),
        print(CREATE, &first_hook, body),
        print(CREATE, &second_hook, body),
    ];
    let count = prints.len();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), count);
}

#[test]
fn the_same_request_of_two_callers_is_one_request() {
    // Whose key it is, is for the record that it is kept under.
    let print = |claims: &Value| {
        let bearer = bearer_of(claims);
        let admitted = admit(&post(CREATE, &bearer));
        let (write, _) = plan_write(&configuration(), &admitted, &with_key("8e03"), BODY).unwrap();
        write
    };
    let alice = print(&claims_with("sub", Some(json!("alice"))));
    let bob = print(&claims_with("sub", Some(json!("bob"))));
    assert_eq!(alice.fingerprint, bob.fingerprint);
    assert_eq!(bob.caller, "quillgate bob");
    assert_ne!(alice.caller, bob.caller);
}

#[test]
fn a_refusal_of_a_body_never_repeats_its_prompt() {
    let config = configuration();
    for (headers, body) in [
        (with_key("a b"), r#"{"prompt":"confidential"}"#),
        (with_webhook("x"), r#"{"prompt":"confidential"}"#),
        (WriteHeaders::default(), r#"{"prompt":["confidential"]}"#),
        (WriteHeaders::default(), r#"{"prompt":"confidential""#),
    ] {
        for url in [CREATE, MESSAGE] {
            let problem = accept(&config, url, &headers, body.as_bytes()).unwrap_err();
            assert!(!problem.to_json("an-id").contains("confidential"));
        }
    }
}

#[test]
fn a_write_is_sent_to_the_projects_object_by_these_names() {
    let config = configure(&HOOKS);
    let headers = WriteHeaders {
        idempotency_retry: Some("force".to_owned()),
        webhook_url: Some("https://hooks.example.com/".to_owned()),
        ..with_key("\"8e03\"")
    };
    let created = write(&config, CREATE, &headers);
    let expected = json!({
        "policy": "create-job",
        "caller": "quillgate alice",
        "subject": "alice",
        "quota": null,
        "ceilings": [],
        "job": null,
        "key": "8e03",
        "fingerprint": created.fingerprint.clone(),
        "retry": "force",
        "target": "/v2/agent/demo-docs/job",
        "body": "{\"prompt\":\"x\"}",
        "prompt_summary": "x",
        "webhook": "https://hooks.example.com/",
    });
    assert_eq!(serde_json::to_value(created).unwrap(), expected);
    let sent = write(&config, MESSAGE, &WriteHeaders::default());
    let sent = serde_json::to_value(sent).unwrap();
    let names = ["policy", "job", "key", "retry", "webhook"].map(|name| &sent[name]);
    let expected = [
        json!("send-message"),
        json!("j1"),
        json!(null),
        json!("normal"),
        json!(null),
    ];
    assert_eq!(names, expected.each_ref());
}

// --- whatever is asked ---------------------------------------------------------

/// The projects of [`bearer`], as they stand in a path.
const OWN: [&str; 2] = ["demo-docs", "other%20docs"];

/// Checks that a target is one of the caller's projects', and of nothing else.
fn assert_own(target: &str, project: &str) -> Result<(), TestCaseError> {
    let path = target.split('?').next().unwrap_or_default();
    let project = project.replace(' ', "%20");
    prop_assert!(OWN.contains(&project.as_str()), "{}", project);
    let own = [
        format!("/v2/agent/{project}/job"),
        format!("/v1/analytics/{project}/views"),
    ];
    let prefix = own.iter().find(|own| {
        let rest = path.strip_prefix(own.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    prop_assert!(prefix.is_some(), "{}", path);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
    prop_assert!(path.bytes().all(plain), "{}", path);
    let mut segments = path.split('/').skip(1);
    prop_assert!(
        !segments.any(|segment| matches!(segment, "" | "." | "..")),
        "{}",
        path
    );
    for hidden in ["%2F", "%5C", "%25", "%3F", "%23", "%00", "%0D", "%0A"] {
        prop_assert!(!path.contains(hidden), "{}", path);
    }
    let query = &target[path.len()..];
    let mut names = query.split(['?', '&']).skip(1);
    let known = |pair: &str| pair.starts_with("dateFrom=") || pair.starts_with("dateTo=");
    prop_assert!(names.all(known), "{}", query);
    Ok(())
}

/// Checks what would be sent for a request; whether anything would be.
fn assert_sent_within(head: &RequestHead<'_>) -> Result<bool, TestCaseError> {
    let planned = plan(head);
    let Ok(action) = planned.action else {
        return Ok(false);
    };
    let Some(project) = planned.project else {
        return Err(TestCaseError::fail("an action without a project"));
    };
    let project = project.as_str();
    let job_target = |id: &str| {
        let call = GetAgentJob::new(JobId::new(id).unwrap());
        call.request(&ProjectId::new(project).unwrap()).target
    };
    match action {
        Action::ReadJob { request, job } => {
            assert_own(&request.target, project)?;
            prop_assert_eq!(request.method, Method::Get);
            prop_assert_eq!(request.body, None);
            prop_assert_eq!(request.target, job_target(job.as_str()));
        }
        Action::ReadReport(views) => assert_own(&views.list, project)?,
        Action::StreamEvents(job) | Action::DeleteRecord(job) => {
            assert_own(&job_target(job.as_str()), project)?;
        }
        Action::ListJobs { limit, .. } => {
            prop_assert!((1..=100).contains(&limit));
            prop_assert!(OWN.contains(&project.replace(' ', "%20").as_str()));
        }
        Action::ReadBody(admitted) => {
            let headers = WriteHeaders::default();
            match plan_write(&configuration(), &admitted, &headers, BODY) {
                Ok((write, _)) => {
                    assert_own(&write.target, project)?;
                    prop_assert_eq!(write.body.as_bytes(), BODY);
                    let job = write.job.map(|id| format!("{}/message", job_target(&id)));
                    prop_assert!(job.is_none_or(|target| target == write.target));
                }
                Err(problem) => {
                    prop_assert_eq!(field_and_rule(&problem), pair("id", "not-dot-segment"));
                    return Ok(false);
                }
            }
        }
        _ => return Err(TestCaseError::fail("something else was decided")),
    }
    Ok(true)
}

/// An operation's path with anything in the place of its values.
fn near_paths() -> impl Strategy<Value = String> {
    let project = "(demo-docs|other%20docs|%64emo-docs|secret|\\.\\.|%2e%2e|demo-docs%2f\\.\\.%2fsecret|demo-docs;x|demo-docs\\PC{0,2})";
    let id = "(j1|%6a1|j;1|\\.|\\.\\.|%2e%2e|%2e%2e%2fsecret|%252e|%5c|%00|events|\\PC{1,4}|[a-z%.;+]{1,6})";
    let at = 0..OPERATIONS.len();
    (at, project, id).prop_map(|(at, project, id)| {
        let (.., pattern) = OPERATIONS[at];
        pattern
            .replace("{projectId}", &project)
            .replace("{id}", &id)
    })
}

fn far_paths() -> impl Strategy<Value = String> {
    let segment = "(v2|v1|agent|analytics|jobs?|views|message|events|demo-docs|secret|j1|\\.\\.|%2e%2e|%2f|%5c|%00|\\PC{0,3})";
    let segments = prop::collection::vec(segment, 1..8);
    segments.prop_map(|segments| format!("/{}", segments.join("/")))
}

fn queries() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "\\?(limit=[0-9]{1,3})?(&offset=[0-9]{1,3})?(&dateFrom=2024-01-0[1-9])?(&dateTo=2024-02-0[1-9]T00:00Z)?",
        "\\?[a-zA-Z0-9=&%/.]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_the_path_what_is_sent_is_within_the_callers_projects(
        path in prop_oneof![3 => near_paths(), 1 => far_paths()],
        query in queries(),
        is_post in any::<bool>(),
    ) {
        let url = format!("https://gate.example{path}{query}");
        let bearer = bearer();
        let head = if is_post { post(&url, &bearer) } else { get(&url, &bearer) };
        assert_sent_within(&head)?;
    }

    #[test]
    fn a_harmless_path_of_an_own_project_is_sent(
        at in 0..OPERATIONS.len(),
        project in "(demo-docs|other%20docs|%64emo%2ddocs)",
        id in "[a-zA-Z0-9_~-]{1,9}",
    ) {
        let (method, _, _, pattern) = OPERATIONS[at];
        let path = pattern.replace("{projectId}", &project).replace("{id}", &id);
        let url = format!("https://gate.example{path}");
        let bearer = bearer();
        let head = RequestHead { method, ..post(&url, &bearer) };
        prop_assert!(assert_sent_within(&head)?, "{}", url);
    }
}
