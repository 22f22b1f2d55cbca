use serde_json::Value;

use crate::client::{Client, JOB, KEY, VIEWS, fast_options};

const PROMPT: &str = r#"{"prompt": "Fix the typos"}"#;

fn statuses(client: &Client, authorization: &str) -> (u16, u16) {
    let json = ("content-type", "application/json");
    let headers = [("authorization", authorization), json];
    let headers = if authorization.is_empty() {
        &headers[1..]
    } else {
        &headers[..]
    };
    let get = client.send("GET", VIEWS, headers, "").unwrap();
    let post = client.send("POST", JOB, headers, PROMPT).unwrap();
    for response in [&get, &post] {
        assert!(
            response.status < 300 || response.json()["error"].is_string(),
            "{}",
            response.text
        );
    }
    (get.status, post.status)
}

#[test]
fn only_a_known_key_is_accepted() {
    let client = Client::start(fast_options());
    assert_eq!(statuses(&client, &format!("Bearer {KEY}")), (200, 201));
    assert_eq!(statuses(&client, &format!("bearer {KEY}")), (200, 201));
    for authorization in [
        "",
        "Bearer",
        "Bearer x",
        KEY,
        &format!("Basic {KEY}"),
        &format!("Bearer {KEY}x"),
    ] {
        assert_eq!(
            statuses(&client, authorization),
            (401, 401),
            "{authorization}"
        );
    }
}

#[test]
fn an_unknown_project_is_forbidden() {
    let client = Client::start(fast_options());
    let views = client.get("/v1/analytics/other/views");
    assert_eq!(
        (views.status, views.json()["error"].is_string()),
        (403, true)
    );
    assert_eq!(client.post("/v2/agent/other/job", PROMPT).status, 403);
    assert_eq!(client.get("/v2/agent/other/job/1").status, 403);
    assert_eq!(client.get("/v1/analytics/demo%2Ddocs/views").status, 200);
}

fn with_read_key() -> Client {
    Client::start(upstream::Options {
        read_key: Some("mint_reader".into()),
        ..fast_options()
    })
}

#[test]
fn the_read_key_permits_only_reading() {
    let client = with_read_key();
    assert_eq!(statuses(&client, "Bearer mint_reader"), (200, 403));
    assert_eq!(statuses(&client, &format!("Bearer {KEY}")), (200, 201));
    let log = client.control("GET", "/requests", &Value::Null);
    let log_json = log.json();
    let names: Vec<_> = (log_json.as_array().unwrap().iter())
        .map(|request| &request["key"])
        .collect();
    assert_eq!(names, ["read-key", "read-key", "key", "key"]);
    assert!(!log.text.contains("mint_reader"));
}

#[test]
fn unknown_routes_and_methods_are_api_errors() {
    let client = Client::start(fast_options());
    for (method, target, status) in [
        ("GET", "/", 404),
        ("GET", "/v1/analytics/demo-docs/clicks", 404),
        ("GET", "/v2/agent/demo-docs/jobs", 404),
        ("GET", "/v1/analytics/demo-docs/assistant/threads", 404),
        ("DELETE", VIEWS, 405),
        ("GET", JOB, 405),
        ("PUT", "/v2/agent/demo-docs/job/1/message", 405),
        ("GET", "/__control/nothing", 404),
        ("DELETE", "/__control/counters", 405),
    ] {
        let response = client.send(method, target, &[], "").unwrap();
        assert_eq!(response.status, status, "{method} {target}");
        assert!(response.json()["error"].is_string());
    }
}

#[test]
fn every_response_has_headers_that_a_proxy_must_not_forward() {
    let client = Client::start(fast_options());
    let responses = [
        client.get(VIEWS),
        client.get("/nowhere"),
        client.get("/v1/analytics/x/views"),
    ];
    for response in &responses {
        assert!(response.header("x-request-id").starts_with("req_"));
        assert!(response.header("set-cookie").starts_with("session="));
        assert_eq!(response.header("server"), "simulated-upstream");
        assert!(!response.header("x-internal-host").is_empty());
        assert!(!response.header("x-powered-by").is_empty());
    }
    assert_ne!(
        responses[0].header("x-request-id"),
        responses[1].header("x-request-id")
    );
}
