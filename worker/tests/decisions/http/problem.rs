//! Problem details (RFC 9457).

use quillgate::{PageSize, Rule, ValidationError};
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem::Problem;
use serde_json::json;

use crate::fixtures::{field_and_rule, to_json};

#[test]
fn problem_names_the_violated_rule_and_its_field() {
    let problem = Problem::from(PageSize::new(0).unwrap_err());
    let json = to_json(&problem);
    assert_eq!(json["status"], 400);
    let detail = "limit must be an integer from 1 to 250, found 0";
    let item = json!({ "field": "limit", "rule": "page-size", "detail": detail });
    assert_eq!(json["errors"], json!([item]));
    assert_eq!(json["detail"], detail);
}

#[test]
fn caller_input_is_escaped_in_the_json() {
    let error = ValidationError::new("\"},\u{2028}{\"status\":200,\"", Rule::Unknown, "");
    let json = to_json(&Problem::from(error));
    assert_eq!(
        (json["status"].as_u64(), json["errors"][0]["rule"].as_str()),
        (Some(400), Some("unknown"))
    );
}

#[test]
fn problem_names_a_gateway_rule_and_its_field() {
    for (problem, field, rule) in [
        (Problem::malformed_body("x"), "body", "json-object"),
        (Problem::webhooks_off(), "Webhook-Url", "webhooks-off"),
        (Problem::no_webhook_hosts(), "Webhook-Url", "webhook-hosts"),
        (
            Problem::webhook_on_follow_up(),
            "Webhook-Url",
            "create-only",
        ),
        (
            Problem::field("a-field", GatewayRule::Cursor, "x"),
            "a-field",
            "cursor",
        ),
    ] {
        let (field, rule) = (field.to_owned(), rule.to_owned());
        assert_eq!(field_and_rule(&problem), (field, rule));
        let json = to_json(&problem);
        assert_eq!(json["errors"][0]["detail"], json["detail"]);
        assert_eq!(json["title"], "Invalid request");
    }
}

#[test]
fn problem_that_needs_another_request_has_a_header_field_for_it() {
    for (problem, status, field) in [
        (Problem::not_found(), 404, ""),
        (Problem::method_not_allowed("GET"), 405, "allow: GET"),
        (Problem::issuer_unavailable(), 503, "retry-after: 60"),
        (Problem::object_unavailable(), 503, "retry-after: 1"),
    ] {
        let fields = problem.headers.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!((problem.status, &*fields.join("\n")), (status, field));
    }
}
