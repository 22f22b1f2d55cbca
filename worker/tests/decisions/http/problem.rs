//! Problem details (RFC 9457).

use std::collections::BTreeSet;

use quillgate::{PageSize, Rule, ValidationError};
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
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
    let found = (json["status"].as_u64(), json["errors"][0]["rule"].as_str());
    assert_eq!(found, (Some(400), Some("unknown")));
}

#[test]
fn problem_names_a_gateway_rule_and_its_field() {
    for (problem, field, rule) in [
        (Problem::malformed_body("x"), "body", "json-object"),
        (Problem::webhooks_off(), "Webhook-Url", "webhooks-off"),
        (Problem::no_webhook_hosts(), "Webhook-Url", "webhook-hosts"),
        (Problem::webhook_without_end(), "Webhook-Url", "create-only"),
        (Problem::field("a", GatewayRule::Cursor, "x"), "a", "cursor"),
    ] {
        assert_eq!(field_and_rule(&problem), [field, rule], "{problem:?}");
        let json = to_json(&problem);
        assert_eq!(json["errors"][0]["detail"], json["detail"], "{json}");
        assert_eq!(json["title"], "Invalid request", "{json}");
    }
}

#[test]
fn problem_that_needs_another_request_has_a_header_field_for_it() {
    for (problem, status, field) in [
        (Problem::not_found(), 404, ""),
        (Problem::method_not_allowed("GET"), 405, "allow: GET"),
        (Problem::issuer_unavailable(), 503, "retry-after: 10"),
        (Problem::object_unavailable(), 503, "retry-after: 1"),
    ] {
        let fields = problem.headers.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let found = (problem.status, &*fields.join("\n"));
        assert_eq!(found, (status, field), "{problem:?}");
    }
}

#[test]
fn problem_kinds_have_stable_names_and_statuses() {
    let by_status = ProblemKind::ALL.chunk_by(|one, next| one.status() == next.status());
    let lists = by_status.map(|kinds| {
        let status = kinds[0].status().map(|status| status.to_string());
        let status = status.as_deref().unwrap_or("any");
        let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
        format!("{status}: {}", names.join(" "))
    });
    let expected = "400: invalid-request sign-in-failed; \
        401: missing-token invalid-token session-ended; \
        403: insufficient-scope identity-not-mapped project-not-allowed origin-not-allowed \
        cross-site; \
        404: not-found job-not-recorded deployment-not-found; \
        405: method-not-allowed; \
        409: idempotency-key-in-use outcome-unknown record-deleted; \
        413: content-too-large; \
        415: unsupported-media-type; \
        422: idempotency-key-reused; \
        429: quota-exceeded too-many-streams; \
        500: misconfigured internal; \
        501: archive-not-configured; \
        502: upstream-malformed counts-changed upstream-redirect upstream-credential \
        upstream-plan upstream-project upstream-blocked upstream-unreachable; \
        503: upstream-unavailable gateway-busy issuer-unavailable object-unavailable; \
        504: upstream-timeout; \
        any: upstream-error";
    assert_eq!(lists.collect::<Vec<_>>().join("; "), expected);
    for text in [ProblemKind::as_str, ProblemKind::title] {
        let texts: BTreeSet<_> = ProblemKind::ALL.iter().map(|kind| text(*kind)).collect();
        assert_eq!(texts.len(), ProblemKind::ALL.len(), "{texts:?}");
    }
}

#[test]
fn gateway_rules_have_stable_names_that_the_core_does_not_use() {
    let names = GatewayRule::ALL.map(GatewayRule::as_str);
    let expected = "json-object cursor idempotency-retry webhooks-off webhook-hosts create-only \
        longest-text day longest-range largest-group prefix not-with-path return-path";
    assert_eq!(names.join(" "), expected);
    let all = names
        .into_iter()
        .chain(Rule::ALL.iter().map(|rule| rule.name()));
    let unique: BTreeSet<_> = all.collect();
    assert_eq!(unique.len(), names.len() + Rule::ALL.len(), "{unique:?}");
}
