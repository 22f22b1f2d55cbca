//! What the shell is told to answer with.

use quillgate_worker::answer::{Answer, Fields, always};
use quillgate_worker::cors::Origin;
use quillgate_worker::problem::Problem;
use serde_json::{Value, json};

fn told(answer: &Answer) -> Value {
    serde_json::to_value(answer).unwrap()
}

fn page() -> Origin {
    Origin::Allowed("https://docs.example".to_owned())
}

#[test]
fn a_problem_is_answered_with_its_status_its_fields_and_its_json() {
    let problem = Problem::new(429, "quota-exceeded", "Quota exceeded", "a \"detail\"")
        .with_header("retry-after", "7")
        .with_header("ratelimit", "\"create-job\";r=0;t=7")
        .with_member("violated-policies", json!(["create-job"]));
    let told = told(&Answer::problem(&problem, "an-id"));
    assert_eq!(told["status"], 429);
    assert_eq!(told["problem"], "quota-exceeded");
    assert_eq!(
        told["headers"],
        json!({
            "retry-after": "7",
            "ratelimit": "\"create-job\";r=0;t=7",
            "content-type": "application/problem+json",
        })
    );
    let body: Value = serde_json::from_str(told["body"].as_str().unwrap()).unwrap();
    assert_eq!(
        body,
        json!({
            "type": "/problems/quota-exceeded",
            "title": "Quota exceeded",
            "status": 429,
            "detail": "a \"detail\"",
            "instance": "an-id",
            "violated-policies": ["create-job"],
        })
    );
    let names: Vec<_> = told.as_object().unwrap().keys().collect();
    assert_eq!(names, ["body", "headers", "problem", "status"]);
}

#[test]
fn a_problem_names_the_request_that_it_is_about() {
    for id in ["", "an-id", "\"},{\"status\":200,\"", "\u{2028}\0"] {
        let body = Answer::problem(&Problem::not_found(), id).body.unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["instance"], id);
        assert_eq!(body["status"], 404);
    }
}

#[test]
fn json_of_the_gateways_own_is_answered_as_it_is() {
    let expected = json!({
        "status": 200,
        "headers": { "content-type": "application/json" },
        "body": "{\"status\":\"ok\"}",
        "problem": null,
    });
    assert_eq!(told(&Answer::json(r#"{"status":"ok"}"#)), expected);
}

#[test]
fn a_question_for_options_is_answered_without_a_body() {
    for (methods, listed, allow) in [
        (&["GET"][..], "GET", "GET, OPTIONS"),
        (&["POST"], "POST", "POST, OPTIONS"),
        (&["GET", "POST"], "GET, POST", "GET, POST, OPTIONS"),
    ] {
        let told = told(&Answer::options(methods));
        assert_eq!(told["status"], 204);
        assert_eq!(told["body"], Value::Null);
        assert_eq!(told["problem"], Value::Null);
        assert_eq!(told["headers"]["allow"], allow);
        assert_eq!(told["headers"]["access-control-allow-methods"], listed);
        assert!(told["headers"]["access-control-allow-headers"].is_string());
        assert!(told["headers"].get("content-type").is_none());
    }
}

#[test]
fn every_answer_names_its_request_and_is_kept_by_nobody() {
    let expected = json!({
        "vary": "Origin",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": "an-id",
    });
    let own = serde_json::to_value(always("an-id", &Origin::Own)).unwrap();
    assert_eq!(own, expected);
}

#[test]
fn an_answer_to_an_allowed_page_says_so_too() {
    let fields = serde_json::to_value(always("an-id", &page())).unwrap();
    assert_eq!(
        fields["access-control-allow-origin"],
        "https://docs.example"
    );
    assert_eq!(fields["timing-allow-origin"], "https://docs.example");
    assert_eq!(fields["vary"], "Origin");
    assert_eq!(fields["cache-control"], "no-store");
    assert_eq!(fields["x-request-id"], "an-id");
    assert!(fields.get("access-control-allow-credentials").is_none());
}

#[test]
fn no_field_stands_twice_nor_in_capitals() {
    let problem = Problem::method_not_allowed("GET, OPTIONS");
    for Fields(fields) in [
        always("an-id", &Origin::Own),
        always("an-id", &page()),
        Answer::problem(&problem, "an-id").headers,
        Answer::options(&["GET"]).headers,
        Answer::json("{}").headers,
    ] {
        for (at, (name, value)) in fields.iter().enumerate() {
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(fields[at + 1..].iter().all(|(other, _)| other != name));
            assert!(!value.contains(['\r', '\n']), "{name}: {value}");
        }
    }
}

#[test]
fn no_fields_are_an_empty_object() {
    assert_eq!(serde_json::to_value(Fields::default()).unwrap(), json!({}));
}
