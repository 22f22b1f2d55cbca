use std::time::Duration;

use quillgate::{ApiError, Method, Millis, Operation};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::upstream::breaker::CallOutcome;
use quillgate_worker::upstream::failure::{
    TransportError, UpstreamFailure, classify_error, classify_malformed, classify_transport_error,
    error_problem,
};
use quillgate_worker::upstream::request::UpstreamRequest;
use serde_json::json;

use super::{JSON, api_error, head, ids, with_field};
use crate::fixtures::{NOW, configuration, configure, header, summarize, to_json};

/// Returns the failure for a response with an empty JSON object.
fn classify(status: u16, content_type: Option<&str>, method: Method) -> UpstreamFailure {
    let (head, config) = (head(status, content_type), configuration());
    classify_error(&head, "{}", method, &config.upstream, NOW)
}

#[test]
fn status_2xx_without_json_is_a_failure() {
    for content_type in [
        None,
        Some(""),
        Some("text/html"),
        Some("application/problem+json"),
        Some("text/html, application/json"),
        Some("application/javascript"),
    ] {
        for status in [200, 201, 204, 206] {
            assert!(!head(status, content_type).is_success());
            let failure = classify(status, content_type, Method::Get);
            assert_eq!(summarize(&failure.problem), "502 upstream-malformed");
        }
    }
}

#[test]
fn redirect_is_neither_followed_nor_forwarded() {
    for status in 300..=399 {
        assert!(!head(status, JSON).is_success());
        let failure = classify(status, JSON, Method::Get);
        assert_eq!(summarize(&failure.problem), "502 upstream-redirect");
        assert_eq!(failure.problem.headers, []);
    }
}

#[test]
fn upstream_error_keeps_its_status_and_message() {
    let body = r#"{"error":"Invalid query","details":[{"message":"a"},{"message":"b"}]}"#;
    let problem = error_problem(&api_error(400, None, body), Method::Get);
    assert_eq!(summarize(&problem), "400 upstream-error");
    let expected = json!({ "status": 400, "error": "Invalid query", "details": ["a", "b"] });
    assert_eq!(to_json(&problem)["upstream"], expected);
    assert_eq!(problem.detail, "Invalid query");
}

#[test]
fn invalid_status_becomes_502() {
    for status in [0, 100, 199, 600, 999, u16::MAX] {
        let problem = error_problem(&api_error(status, None, "{}"), Method::Get);
        assert_eq!(problem.status, 502, "{status}");
        assert_eq!(to_json(&problem)["upstream"]["status"], status);
    }
    for status in 400..=599 {
        let found = error_problem(&api_error(status, None, "{}"), Method::Get).status;
        assert_eq!(found, status);
    }
}

#[test]
fn problem_forwards_retry_after() {
    for (status, sent, expected) in [
        (429, Some("7"), Some("7")),
        (429, Some("0"), Some("0")),
        (429, None, Some("60")),
        (429, Some("soon"), Some("60")),
        (429, Some("-1"), Some("60")),
        (503, Some("Sun, 15 Jun 2025 15:06:45 GMT"), Some("5")),
        (503, Some("Sun, 06 Nov 1994 08:49:37 GMT"), Some("0")),
        (503, None, Some("60")),
        (500, Some("7"), None),
        (404, Some("7"), None),
    ] {
        let problem = error_problem(&api_error(status, sent, ""), Method::Get);
        let found = header(&problem.headers, "retry-after");
        assert_eq!(found, expected, "{status} {sent:?}");
    }
    let wait = ApiError {
        retry_after: Some(Duration::from_millis(1001)),
        ..api_error(429, None, "")
    };
    let found = error_problem(&wait, Method::Get).headers;
    assert_eq!(found, [("retry-after", "2".to_owned())]);
}

#[test]
fn upstream_error_details_are_forwarded_unchanged() {
    let body = r#"{"error":"invalid","details":[{"message":"limit is too large"}]}"#;
    let json = to_json(&error_problem(&api_error(400, None, body), Method::Get));
    assert_eq!(json["details"][0]["message"], "limit is too large");
    let json = to_json(&error_problem(&api_error(400, None, "{}"), Method::Get));
    assert!(json.get("details").is_none());
}

#[test]
fn unanswered_post_has_an_unknown_outcome() {
    for (error, status, kind) in [
        (TransportError::Broken, 502, "upstream-unreachable"),
        (TransportError::TimedOut, 504, "upstream-timeout"),
    ] {
        let read = classify_transport_error(error, Method::Get).problem;
        assert_eq!(summarize(&read), format!("{status} {kind}"));
        assert!(read.members.is_empty(), "{kind:?}");
        let written = to_json(&classify_transport_error(error, Method::Post).problem);
        assert_eq!(written["outcome"], "unknown");
        assert_eq!(written["status"], status, "{kind:?}");
    }
}

#[test]
fn stored_state_replaces_only_temporary_failures() {
    for (status, is_temporary) in [
        (302, false),
        (401, false),
        (403, false),
        (404, false),
        (429, true),
        (500, true),
        (503, true),
    ] {
        let failure = classify(status, JSON, Method::Get);
        assert_eq!(failure.is_temporary(), is_temporary, "{status}");
    }
    assert!(!classify_malformed(Method::Get).is_temporary());
    assert!(UpstreamFailure::not_sent(Problem::internal()).is_temporary());
    for error in [TransportError::Broken, TransportError::TimedOut] {
        assert!(classify_transport_error(error, Method::Get).is_temporary());
    }
}

#[test]
fn status_429_blocks_the_upstream_for_the_requested_time_up_to_the_window() {
    let hour = &configuration().upstream;
    let three_hours = &configure(&[("LIMIT_WINDOW_SECONDS", Some("10800"))]).upstream;
    for (settings, retry_after, expected) in [
        (hour, Some("7"), 7_000),
        (hour, Some("0"), 0),
        (hour, None, 60_000),
        (hour, Some("soon"), 60_000),
        (hour, Some("Sun, 15 Jun 2025 15:06:45 GMT"), 5_000),
        (hour, Some("Sun, 06 Nov 1994 08:49:37 GMT"), 0),
        (hour, Some("60000"), 3_600_000),
        (hour, Some("864000"), 3_600_000),
        (three_hours, None, 60_000),
        (three_hours, Some("1"), 1_000),
        (three_hours, Some("7200"), 7_200_000),
        (three_hours, Some("86400"), 10_800_000),
    ] {
        let head = with_field(head(429, JSON), "retry-after", retry_after);
        let failure = classify_error(&head, "", Method::Get, settings, NOW);
        let expected = Some(Millis(expected));
        assert_eq!(failure.closed_for, expected, "{retry_after:?}");
        assert_eq!(failure.retry_after(), expected, "{retry_after:?}");
    }
}

#[test]
fn success_forwards_content_type_and_language() {
    let mut all = head(200, Some("application/json; charset=utf-8"));
    all.headers.set("retry-after", "7");
    all.headers.set("x-request-id", "theirs");
    all.headers.set("content-language", "en");
    let expected = [
        ("content-type", "application/json; charset=utf-8"),
        ("content-language", "en"),
    ];
    let headers = all.forwarded_headers();
    assert_eq!(headers.iter().collect::<Vec<_>>(), expected);
    assert_eq!(head(200, None).forwarded_headers().iter().count(), 0);
}

#[test]
fn only_429_5xx_and_missing_responses_count_against_the_upstream() {
    let config = configuration();
    let of_status =
        |status| classify_error(&head(status, None), "", Method::Get, &config.upstream, NOW);
    assert!(!classify_malformed(Method::Get).counts_against_upstream());
    assert!(!of_status(200).counts_against_upstream());
    assert!(!of_status(302).counts_against_upstream());
    assert!(!of_status(404).counts_against_upstream());
    assert!(!of_status(429).counts_against_upstream());
    assert!(of_status(500).counts_against_upstream());
    for error in [TransportError::Broken, TransportError::TimedOut] {
        assert!(classify_transport_error(error, Method::Get).counts_against_upstream());
    }
}

#[test]
fn blocked_write_does_not_count_against_the_upstream() {
    let config = configuration();
    for (method, counts) in [
        (Method::Get, true),
        (Method::Post, false),
        (Method::Delete, false),
    ] {
        let blocked = head(403, Some("text/html"));
        let failure = classify_error(&blocked, "<h1>Blocked</h1>", method, &config.upstream, NOW);
        assert_eq!(failure.problem.kind, ProblemKind::UpstreamBlocked);
        assert_eq!(failure.counts_against_upstream(), counts, "{method:?}");
        assert_eq!(failure.is_temporary(), counts, "{method:?}");
    }
}

#[test]
fn failure_counts_for_its_target_except_when_creating() {
    let failure = classify_transport_error(TransportError::Broken, Method::Get);
    let redirect = classify(302, JSON, Method::Get);
    let (status, update) = ("/v1/project/update-status/d1", "/v1/project/update/acme");
    for (operation, target, is_counted) in [
        (Operation::GetAgentJob, "/v2/agent/acme/job/j1", true),
        (Operation::GetDeployment, status, true),
        (Operation::CreateAgentJob, "/v2/agent/acme/job", false),
        (Operation::CreateDeployment, update, false),
        (Operation::CreatePreview, "/v1/project/preview/acme", false),
    ] {
        let request = UpstreamRequest {
            operation,
            ids: &ids(None),
            target,
            body: None,
        };
        let expected = CallOutcome::Failed {
            target: is_counted.then_some(target),
            retry_after: None,
        };
        assert_eq!(request.call_outcome(Some(&failure)), expected);
        for answered in [None, Some(&redirect)] {
            assert_eq!(request.call_outcome(answered), CallOutcome::Answered);
        }
    }
}
