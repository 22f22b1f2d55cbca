use quillgate_worker::http::cors::Origin;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::http::response::{GatewayResponse, HeaderFields, common_headers};
use serde_json::{Value, json};

use crate::fixtures::{Predicate, parse_json};

fn to_object(headers: &HeaderFields) -> Value {
    let members = headers
        .iter()
        .map(|(name, value)| (name.to_owned(), value.into()));
    Value::Object(members.collect())
}

fn page() -> Origin {
    Origin::Allowed("https://docs.example".to_owned())
}

#[test]
fn problem_response_has_status_header_fields_and_json() {
    let problem = Problem::new(ProblemKind::QuotaExceeded, "a \"detail\"")
        .with_header("retry-after", "7")
        .with_header("ratelimit", "\"create-job\";r=0;t=7")
        .with_member("violated-policies", json!(["create-job"]));
    let response = GatewayResponse::problem(&problem, "an-id");
    assert_eq!(response.status, 429);
    assert_eq!(response.problem, Some(ProblemKind::QuotaExceeded));
    let expected = json!({
        "retry-after": "7",
        "ratelimit": "\"create-job\";r=0;t=7",
        "content-type": "application/problem+json",
    });
    assert_eq!(to_object(&response.headers), expected);
    let expected = json!({
        "type": "/problems/quota-exceeded",
        "title": "Quota exceeded",
        "status": 429,
        "detail": "a \"detail\"",
        "instance": "an-id",
        "violated-policies": ["create-job"],
    });
    assert_eq!(parse_json(&response.body.unwrap()), expected);
}

/// A URL whose responses have no `Strict-Transport-Security`.
const URL: &str = "http://localhost:8787/";

#[test]
fn every_response_has_a_request_id_and_no_store() {
    let expected = json!({
        "vary": "Origin",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": "an-id",
    });
    let own = common_headers("an-id", URL, &Origin::Own);
    assert_eq!(to_object(&own), expected);
}

#[test]
fn header_fields_are_unique_and_lowercase() {
    let problem = Problem::method_not_allowed("GET, OPTIONS");
    for headers in [
        common_headers("an-id", URL, &Origin::Own),
        common_headers("an-id", URL, &page()),
        GatewayResponse::problem(&problem, "an-id").headers,
        GatewayResponse::options(&["GET"]).headers,
        GatewayResponse::json(200, "{}").headers,
    ] {
        let fields: Vec<_> = headers.iter().collect();
        for (at, (name, value)) in fields.iter().enumerate() {
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(fields[at + 1..].iter().all(|(other, _)| other != name));
            assert!(!value.contains(['\r', '\n']), "{name}: {value}");
        }
    }
}

fn fields(pairs: &[(&'static str, &str)]) -> HeaderFields {
    let pairs = pairs.iter();
    pairs.fold(HeaderFields::default(), |fields, (name, value)| {
        fields.with(*name, (*value).to_owned())
    })
}

#[test]
fn value_cannot_inject_another_field() {
    let smuggled = "1\r\nset-cookie: a=b\nx: y\rz: 0\0";
    let harmless = "1  set-cookie: a=b x: y z: 0 ";
    for headers in [
        fields(&[("age", smuggled)]),
        [("age", smuggled.to_owned())].into_iter().collect(),
        fields(&[("age", "0")]).with("age", smuggled),
        HeaderFields::default().or(fields(&[("age", smuggled)])),
        HeaderFields::from_json(&json!({ "age": smuggled }).to_string()).unwrap(),
    ] {
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("age", harmless)]);
    }
    let message = json!([["age", smuggled]]);
    let received: HeaderFields = serde_json::from_value(message).unwrap();
    assert_eq!(received.get("age"), Some(harmless));
}

fn transport_security(url: &str) -> Option<String> {
    let headers = common_headers("an-id", url, &Origin::Own);
    headers.get("strict-transport-security").map(str::to_owned)
}

#[test]
fn transport_security_is_sent_only_for_the_gateways_host() {
    for rest in ["/healthz", ":8443/v1/x?y"] {
        let found = transport_security(&format!("https://gate.example{rest}"));
        assert_eq!(found.as_deref(), Some("max-age=31536000"), "{rest}");
    }
    let is_secured = |url: &str| transport_security(url).is_some();
    is_secured.rejects(&[
        "http://gate.example/healthz",
        "http://localhost:8787/",
        "https://localhost:8787/",
        "https://127.0.0.1/",
        "https://[::1]:8787/x",
    ]);
}
