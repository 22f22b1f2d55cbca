//! What is decided about a whole request, and in which order its parts are looked at.

use proptest::prelude::*;
use quillgate::{Method, Request};
use quillgate_worker::content::LARGEST_BODY;
use quillgate_worker::cors::Origin;
use quillgate_worker::gate::{Decision, Incoming, Outcome, decide, is_liveness};
use quillgate_worker::problem::Problem;
use serde_json::json;

use crate::setting::{NOW, bearer, claims_with, configuration, field_and_rule, json_of, token};

const CREATE: &str = "https://gate.example/v2/agent/demo-docs/job";
const VIEWS: &str = "https://gate.example/v1/analytics/demo-docs/views";

fn get<'a>(url: &'a str, authorization: &'a str) -> Incoming<'a> {
    Incoming {
        method: "GET",
        url,
        authorization: Some(authorization),
        ..Incoming::default()
    }
}

fn post<'a>(url: &'a str, authorization: &'a str) -> Incoming<'a> {
    Incoming {
        method: "POST",
        content_type: Some("application/json"),
        ..get(url, authorization)
    }
}

fn outcome(incoming: &Incoming<'_>) -> Outcome {
    decide(&configuration(), incoming, NOW)
}

#[track_caller]
fn refused(incoming: &Incoming<'_>) -> Problem {
    match outcome(incoming).decision {
        Ok(_) => panic!("not refused: {incoming:?}"),
        Err(problem) => problem,
    }
}

#[track_caller]
fn forwarded(incoming: &Incoming<'_>) -> Request {
    match outcome(incoming)
        .decision
        .map_err(|problem| problem.detail)
        .unwrap()
    {
        Decision::Forward(forward) => forward.request,
        Decision::ReadBody(pending) => {
            let forward = pending.with_body(br#"{"prompt":"x"}"#);
            forward.map_err(|problem| problem.detail).unwrap().request
        }
        _ => panic!("not forwarded: {incoming:?}"),
    }
}

#[test]
fn a_good_request_goes_upstream_rebuilt() {
    let bearer = bearer();
    let request = forwarded(&get(&format!("{VIEWS}?offset=5&limit=10"), &bearer));
    let target = "/v1/analytics/demo-docs/views?limit=10&offset=5".to_owned();
    assert_eq!(
        request,
        Request {
            method: Method::Get,
            target,
            body: None
        }
    );

    let request = forwarded(&get(
        "https://gate.example/v2/agent/other%20docs/job/j;1",
        &bearer,
    ));
    assert_eq!(request.target, "/v2/agent/other%20docs/job/j%3B1");

    let request = forwarded(&post(CREATE, &bearer));
    assert_eq!(
        (request.method, request.body.as_deref()),
        (Method::Post, Some(r#"{"prompt":"x"}"#))
    );
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
        let url = format!("https://gate.example/v2/agent/{segment}/job/j1");
        let problem = refused(&get(&url, &bearer));
        assert_eq!(
            field_and_rule(&problem),
            ("projectId".to_owned(), rule.to_owned())
        );
    }
    for segment in [
        "Demo-docs",
        "demo-docs%20",
        "demo%2Ddocs2",
        "demo-docs;x",
        "demo%E2%80%90docs",
    ] {
        let url = format!("https://gate.example/v2/agent/{segment}/job/j1");
        assert_eq!(refused(&get(&url, &bearer)).kind, "project-not-allowed");
    }
    let encoded = forwarded(&get(
        "https://gate.example/v2/agent/%64emo-docs/job/j1",
        &bearer,
    ));
    assert_eq!(encoded.target, "/v2/agent/demo-docs/job/j1");
}

#[test]
fn a_job_id_is_never_a_step_in_the_path() {
    let bearer = bearer();
    for (id, rule) in [
        ("..", "not-dot-segment"),
        ("%2e.", "not-dot-segment"),
        ("%2E", "not-dot-segment"),
        ("%252e%252e", "path-segment"),
    ] {
        let url = format!("https://gate.example/v2/agent/demo-docs/job/{id}");
        let problem = refused(&get(&url, &bearer));
        assert_eq!(field_and_rule(&problem), ("id".to_owned(), rule.to_owned()));
    }
}

#[test]
fn each_operation_needs_its_own_scope() {
    let job = "https://gate.example/v2/agent/demo-docs/job/j1";
    let message = "https://gate.example/v2/agent/demo-docs/job/j1/message";
    for (method, url, scope) in [
        ("POST", CREATE, "jobs:create"),
        ("GET", job, "jobs:read"),
        ("POST", message, "jobs:create"),
        ("GET", VIEWS, "analytics:read"),
    ] {
        for held in ["jobs:create", "jobs:read", "analytics:read"] {
            let bearer = format!("Bearer {}", token(&claims_with("scope", Some(json!(held)))));
            let incoming = Incoming {
                method,
                ..post(url, &bearer)
            };
            match outcome(&incoming).decision {
                Ok(_) => assert_eq!(held, scope, "{method} {url}"),
                Err(problem) => {
                    assert_eq!(problem.kind, "insufficient-scope");
                    assert_ne!(held, scope, "{method} {url}");
                }
            }
        }
    }
}

#[test]
fn a_stranger_learns_which_routes_there_are_and_nothing_else() {
    for (method, url, kind) in [
        (
            "GET",
            "https://gate.example/v2/agent/demo-docs/jobs",
            "not-found",
        ),
        ("PUT", CREATE, "method-not-allowed"),
        ("POST", CREATE, "missing-token"),
        (
            "GET",
            "https://gate.example/v2/agent/%2f/job/%2f",
            "missing-token",
        ),
        (
            "GET",
            "https://gate.example/v1/analytics/demo-docs/views?limit=0&x",
            "missing-token",
        ),
    ] {
        let incoming = Incoming {
            authorization: None,
            content_length: Some("999999999"),
            ..get(url, "")
        };
        let incoming = Incoming { method, ..incoming };
        assert_eq!(refused(&incoming).kind, kind, "{method} {url}");
    }
}

#[test]
fn a_caller_of_another_project_does_not_learn_what_is_wrong_with_the_rest() {
    let bearer = bearer();
    let url = "https://gate.example/v1/analytics/secret/views?limit=0&x";
    assert_eq!(refused(&get(url, &bearer)).kind, "project-not-allowed");
    let body = Incoming {
        content_type: None,
        ..post("https://gate.example/v2/agent/secret/job", &bearer)
    };
    assert_eq!(refused(&body).kind, "project-not-allowed");
}

#[test]
fn a_body_is_refused_by_what_its_head_says() {
    let bearer = bearer();
    for content_type in [
        None,
        Some("text/plain"),
        Some("application/json, text/plain"),
    ] {
        let problem = refused(&Incoming {
            content_type,
            ..post(CREATE, &bearer)
        });
        assert_eq!(
            (problem.status, problem.kind),
            (415, "unsupported-media-type")
        );
        assert_eq!(
            problem.headers,
            [("accept-post", "application/json".to_owned())]
        );
    }
    let announced = |length: &str| {
        let incoming = Incoming {
            content_length: Some(length),
            ..post(CREATE, &bearer)
        };
        outcome(&incoming)
            .decision
            .map_err(|problem| problem.status)
            .err()
    };
    assert_eq!(announced(&LARGEST_BODY.to_string()), None);
    assert_eq!(announced(&(LARGEST_BODY + 1).to_string()), Some(413));
    assert_eq!(announced(&u64::MAX.to_string()), Some(413));
    // What is no number announces nothing: the bytes are counted as they come.
    assert_eq!(announced("many"), None);
}

#[test]
fn a_question_for_options_needs_no_token_and_an_allowed_origin() {
    let preflight = Incoming {
        method: "OPTIONS",
        authorization: None,
        origin: Some("https://docs.example"),
        ..get(CREATE, "")
    };
    let answered = outcome(&preflight);
    assert_eq!(
        answered.origin,
        Origin::Allowed("https://docs.example".to_owned())
    );
    assert!(matches!(answered.decision, Ok(Decision::Options(methods)) if methods == ["POST"]));

    let evil = Incoming {
        origin: Some("https://evil.example"),
        ..preflight
    };
    assert_eq!(refused(&evil).kind, "origin-not-allowed");
    let nowhere = Incoming {
        url: "https://gate.example/v2/x",
        ..preflight
    };
    assert_eq!(refused(&nowhere).kind, "not-found");
}

#[test]
fn an_origin_that_is_not_allowed_is_refused_before_its_token_is_looked_at() {
    let bearer = bearer();
    for origin in ["https://evil.example", "null"] {
        let with_token = Incoming {
            origin: Some(origin),
            ..get(VIEWS, &bearer)
        };
        let answered = outcome(&with_token);
        assert_eq!(answered.origin, Origin::Own, "it is told nothing");
        assert_eq!(answered.decision.err().unwrap().kind, "origin-not-allowed");
        let without = Incoming {
            authorization: None,
            ..with_token
        };
        assert_eq!(refused(&without).kind, "origin-not-allowed");
    }
}

#[test]
fn a_refusal_can_be_read_by_an_allowed_page() {
    let incoming = Incoming {
        origin: Some("https://docs.example"),
        ..get(VIEWS, "Bearer x")
    };
    let answered = outcome(&incoming);
    assert_eq!(
        answered.origin,
        Origin::Allowed("https://docs.example".to_owned())
    );
    assert_eq!(answered.decision.err().unwrap().status, 401);
}

#[test]
fn only_the_liveness_route_itself_is_answered_without_a_configuration() {
    for (method, url, expected) in [
        ("GET", "https://h/healthz", true),
        ("HEAD", "https://h/healthz?x", true),
        ("POST", "https://h/healthz", false),
        ("GET", "https://h/healthz/", false),
        ("GET", "https://h/Healthz", false),
        ("GET", "https://h//healthz", false),
        ("GET", "https://h/healthz%2f..%2fv2", false),
        ("GET", "https://h/v2/agent/x/job/healthz", false),
        ("GET", "https://h/x#/healthz", false),
        ("GET", "https://h/x?/healthz", false),
    ] {
        let incoming = Incoming {
            method,
            ..get(url, "")
        };
        assert_eq!(is_liveness(&incoming), expected, "{method} {url}");
    }
    let post = Incoming {
        method: "POST",
        ..get("https://h/healthz", "")
    };
    assert_eq!(json_of(&refused(&post))["status"], 405);
}

proptest! {
    #[test]
    fn whatever_the_path_what_is_sent_is_within_the_callers_projects(
        segments in prop::collection::vec("(v2|v1|agent|analytics|job|views|message|demo-docs|secret|j1|\\.\\.|%2e%2e|%2f|%5c|%00|\\PC{0,3})", 1..8),
        query in "(\\?[a-zA-Z0-9=&%/.]{0,12})?",
        is_post in any::<bool>(),
    ) {
        let url = format!("https://gate.example/{}{query}", segments.join("/"));
        let bearer = bearer();
        let incoming = if is_post { post(&url, &bearer) } else { get(&url, &bearer) };
        let request = match outcome(&incoming).decision {
            Ok(Decision::Forward(forward)) => forward.request,
            Ok(Decision::ReadBody(pending)) => pending.with_body(br#"{"prompt":"x"}"#).map_err(|problem| problem.detail).unwrap().request,
            _ => return Ok(()),
        };
        let (path, _) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let prefix = ["/v2/agent/demo-docs/job", "/v1/analytics/demo-docs/views"].into_iter().find(|prefix| path.starts_with(prefix));
        prop_assert!(prefix.is_some(), "{}", path);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
        prop_assert!(path.bytes().all(plain), "{}", path);
        prop_assert!(!path.split('/').any(|segment| segment == "." || segment == ".."), "{}", path);
        for hidden in ["%2F", "%5C", "%25", "%3F", "%23", "%00", "%0D", "%0A"] {
            prop_assert!(!path.contains(hidden), "{}", path);
        }
    }
}
