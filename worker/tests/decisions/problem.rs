//! What a problem looks like on the wire (RFC 9457).

use quillgate::{PageSize, Rule, ValidationError};
use quillgate_worker::problem::Problem;
use serde_json::json;

use crate::setting::json_of;

#[test]
fn a_problem_has_the_standard_members_and_its_own() {
    let problem =
        Problem::new(409, "a-kind", "A title", "a \"detail\"\n").with_member("extra", json!([1]));
    let expected = json!({
        "type": "/problems/a-kind",
        "title": "A title",
        "status": 409,
        "detail": "a \"detail\"\n",
        "instance": "an-id",
        "extra": [1],
    });
    assert_eq!(json_of(&problem), expected);
}

#[test]
fn a_broken_rule_is_named_with_its_field() {
    let problem = Problem::from(PageSize::new(0).unwrap_err());
    let json = json_of(&problem);
    assert_eq!(json["status"], 400);
    let detail = "limit must be an integer from 1 to 250, found 0";
    let item = json!({ "field": "limit", "rule": "page-size", "detail": detail });
    assert_eq!(json["errors"], json!([item]));
    assert_eq!(json["detail"], detail);
}

#[test]
fn what_a_caller_named_cannot_break_out_of_the_json() {
    let error = ValidationError::new("\"},\u{2028}{\"status\":200,\"", Rule::Unknown, "");
    let json = json_of(&Problem::from(error));
    assert_eq!(
        (json["status"].as_u64(), json["errors"][0]["rule"].as_str()),
        (Some(400), Some("unknown"))
    );
}

#[test]
fn a_wrong_configuration_names_its_variable() {
    let problem = Problem::misconfigured("ADMIN_API_KEY", "is not set");
    let json = json_of(&problem);
    assert_eq!((problem.status, problem.kind), (500, "misconfigured"));
    assert_eq!(json["variable"], "ADMIN_API_KEY");
    assert_eq!(
        json["detail"],
        "the gateway's variable ADMIN_API_KEY is not set"
    );
}

#[test]
fn each_refusal_has_its_status_and_what_goes_with_it() {
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
        (Problem::malformed_body(), 400, "invalid-request", None),
    ] {
        assert_eq!((problem.status, problem.kind), (status, kind));
        let first = problem
            .headers
            .first()
            .map(|(name, value)| (*name, value.as_str()));
        assert_eq!(first, header);
    }
}
