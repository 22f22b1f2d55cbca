//! Problem details (RFC 9457). A problem has a type, a title, a status and a detail. A validation
//! problem names the violated rule and its field.

use quillgate::{PageSize, Rule, ValidationError};
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem::{MEDIA_TYPE, Problem};
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::json;

use crate::fixtures::{field_and_rule, status_and_kind, to_json};

#[test]
fn problem_has_standard_and_extension_members() {
    let problem = Problem::new(ProblemKind::OutcomeUnknown, "a \"detail\"\n")
        .with_member("extra", json!([1]));
    let expected = json!({
        "type": "/problems/outcome-unknown",
        "title": "Outcome unknown",
        "status": 409,
        "detail": "a \"detail\"\n",
        "instance": "an-id",
        "extra": [1],
    });
    assert_eq!(to_json(&problem), expected);
}

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
fn configuration_error_names_its_variable() {
    let problem = Problem::misconfigured("ADMIN_API_KEY", "is not set");
    let json = to_json(&problem);
    assert_eq!(status_and_kind(&problem), (500, "misconfigured"));
    assert_eq!(json["variable"], "ADMIN_API_KEY");
    assert_eq!(
        json["detail"],
        "the gateway's variable ADMIN_API_KEY is not set"
    );
}

#[test]
fn each_problem_has_its_status_and_header_fields() {
    for (problem, status, kind, header) in [
        (Problem::not_found(), 404, "not-found", None),
        (
            Problem::method_not_allowed("GET"),
            405,
            "method-not-allowed",
            Some(("allow", "GET")),
        ),
        (
            Problem::unsupported_media_type(),
            415,
            "unsupported-media-type",
            Some(("accept-post", "application/json")),
        ),
        (
            Problem::content_too_large(7),
            413,
            "content-too-large",
            None,
        ),
        (Problem::malformed_body("x"), 400, "invalid-request", None),
        (Problem::webhooks_off(), 400, "invalid-request", None),
        (
            Problem::webhook_on_follow_up(),
            400,
            "invalid-request",
            None,
        ),
        (
            Problem::issuer_unavailable(),
            503,
            "issuer-unavailable",
            Some(("retry-after", "60")),
        ),
        (
            Problem::object_unavailable(),
            503,
            "object-unavailable",
            Some(("retry-after", "1")),
        ),
        (Problem::internal(), 500, "internal", None),
    ] {
        assert_eq!(status_and_kind(&problem), (status, kind));
        let first = problem
            .headers
            .first()
            .map(|(name, value)| (*name, value.as_str()));
        assert_eq!(first, header);
        assert!(problem.headers.len() < 2);
        let json = to_json(&problem);
        assert_eq!(json["type"], format!("/problems/{kind}"));
        assert_eq!(json["status"], status);
        for name in ["title", "detail"] {
            assert!(!json[name].as_str().unwrap().is_empty(), "{json}");
        }
    }
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
fn header_fields_keep_their_order() {
    let problem = Problem::new(ProblemKind::QuotaExceeded, "a detail")
        .with_header("retry-after", "1")
        .with_header("ratelimit", "2");
    let expected = [
        ("retry-after", "1".to_owned()),
        ("ratelimit", "2".to_owned()),
    ];
    assert_eq!(problem.headers, expected);
    assert!(!problem.to_json("an-id").contains("retry-after"));
}

#[test]
fn problem_has_the_standard_media_type() {
    assert_eq!(MEDIA_TYPE, "application/problem+json");
}

#[test]
fn each_problem_kind_has_a_unique_name_and_title() {
    let mut last = 0;
    for (at, kind) in ProblemKind::ALL.iter().enumerate() {
        for other in &ProblemKind::ALL[at + 1..] {
            assert_ne!(kind.as_str(), other.as_str());
            assert_ne!(kind.title(), other.title());
        }
        let problem = Problem::new(*kind, "a detail");
        assert_eq!(problem.kind, *kind);
        match kind.status() {
            Some(status) => {
                assert!((400..=599).contains(&status), "{kind:?}");
                assert!(last <= status, "{kind:?} is listed by its status");
                assert_eq!(problem.status, status);
                last = status;
            }
            None => assert_eq!(*kind, ProblemKind::UpstreamError),
        }
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        assert!(kind.as_str().bytes().all(plain), "{kind:?}");
        for line in kind.documentation() {
            assert!(line.starts_with(' ') && line.trim().len() > 1, "{kind:?}");
        }
    }
}

#[test]
fn problem_kind_round_trips_through_its_name() {
    for kind in ProblemKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        assert_eq!(ProblemKind::from_name(kind.as_str()), Some(*kind));
    }
    for name in ["", "NotFound", "not-found ", "404"] {
        assert_eq!(ProblemKind::from_name(name), None, "{name}");
    }
}

#[test]
fn each_rule_has_a_unique_name() {
    let names = GatewayRule::ALL.map(GatewayRule::as_str);
    let expected = [
        "json-object",
        "cursor",
        "idempotency-retry",
        "webhooks-off",
        "webhook-hosts",
        "create-only",
        "longest-text",
        "day",
        "longest-range",
        "prefix",
        "not-with-path",
        "return-path",
    ];
    assert_eq!(names, expected);
    assert!(Rule::ALL.iter().all(|rule| !names.contains(&rule.name())));
}
