use std::time::Duration;

use quillgate::error::Error;
use quillgate::response::{Head, is_outcome_unknown, read};
use quillgate::{ApiError, Failure, GetAgentJob, JobStatus, ListPageViews, Millis};

const NOW: Millis = Millis(784_111_777_000);

fn head(status: u16) -> Head {
    Head {
        status,
        ..Head::default()
    }
}

/// The error of a response whose status is not 2xx.
fn api_error(head: Head, body: &[u8]) -> ApiError {
    match read::<GetAgentJob>(head, body, NOW) {
        Err(Error::Api(error)) => error,
        other => panic!("expected an API error, found {other:?}"),
    }
}

fn message(status: u16, body: &str) -> String {
    api_error(head(status), body.as_bytes()).message
}

#[test]
fn exactly_the_2xx_statuses_are_successes() {
    for status in 0..=1000 {
        let success = (200..300).contains(&status);
        assert_eq!(head(status).is_success(), success, "{status}");
        match read::<GetAgentJob>(head(status), br#"{"status":"active"}"#, NOW) {
            Ok(job) => assert!(success && job.status == Some(JobStatus::Active), "{status}"),
            Err(Error::Api(error)) => assert!(!success && error.status == status, "{status}"),
            Err(other) => panic!("{status}: {other}"),
        }
    }
}

#[test]
fn a_success_with_an_unexpected_body_is_a_decode_error() {
    for (body, at) in [
        (&b""[..], ""),
        (b"<html>", ""),
        (br#"{"error":"no"}"#, "views"),
        (br#"{"views":[{"ai":-1}]}"#, "views[0].ai"),
    ] {
        match read::<ListPageViews>(head(200), body, NOW) {
            Err(Error::Decode(error)) => assert_eq!(error.at, at),
            other => panic!("expected a decode error, found {other:?}"),
        }
    }
    let empty = read::<GetAgentJob>(head(204), b"", NOW);
    assert!(matches!(empty, Err(Error::Decode(_))));
}

#[test]
fn the_platform_error_is_the_message() {
    let error = api_error(head(400), br#"{"error":"prompt must not be empty"}"#);
    let expected = ApiError {
        status: 400,
        message: "prompt must not be empty".into(),
        details: vec![],
        code: None,
        request_id: None,
        retry_after: None,
    };
    assert_eq!(error, expected);
    let expected = "status 400: prompt must not be empty";
    assert_eq!(Error::from(error).to_string(), expected);
}

#[test]
fn a_problem_document_provides_message_code_and_details() {
    let body = br#"{"type":"/problems/validation","title":"Bad parameters","status":400,"detail":"limit must be an integer","instance":"req_1","errors":[{"field":"limit","rule":"page-size","detail":"limit must be an integer from 1 to 250"}]}"#;
    let error = api_error(head(400), body);
    assert_eq!(error.message, "limit must be an integer");
    assert_eq!(error.code.as_deref(), Some("/problems/validation"));
    assert_eq!(error.details, ["limit must be an integer from 1 to 250"]);
}

#[test]
fn only_an_idempotency_key_in_use_means_that_a_request_is_still_running() {
    let failure = |status, kind: &str| {
        let body = serde_json::json!({ "type": format!("/problems/{kind}") });
        Failure::of_answer(status, &body)
    };
    let expected = Failure::StillRunning;
    assert_eq!(failure(409, "idempotency-key-in-use"), expected);
    for (status, kind) in [
        (409, "outcome-unknown"),
        (409, "IDEMPOTENCY-KEY-IN-USE"),
        (422, "idempotency-key-reused"),
        (400, "idempotency-key-in-use"),
    ] {
        assert_eq!(failure(status, kind), Failure::Status(status), "{kind}");
    }
    let plain = serde_json::Value::Null;
    assert_eq!(Failure::of_answer(409, &plain), Failure::Status(409));
}

#[test]
fn only_the_outcome_field_of_the_gateway_makes_an_outcome_unknown() {
    let unknown = serde_json::json!({ "outcome": "unknown" });
    assert!(is_outcome_unknown(&unknown));
    for body in [
        r#"{"type":"/problems/outcome-unknown"}"#,
        r#"{"outcome":"done"}"#,
        r#"{"outcome":["unknown"]}"#,
        r#""unknown""#,
    ] {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(!is_outcome_unknown(&body), "{body}");
    }
}

#[test]
fn the_first_known_field_with_a_string_is_the_message() {
    let all = r#"{"error":"a","detail":"c","title":"d","message":"e"}"#;
    for (body, expected) in [
        (all, "a"),
        (r#"{"error":{"message":"b"},"detail":"c"}"#, "b"),
        (r#"{"error":{"code":7},"detail":"c","title":"d"}"#, "c"),
        (r#"{"error":"","detail":"","title":"d","message":"e"}"#, "d"),
        (r#"{"error":true,"title":["d"],"message":"e"}"#, "e"),
        (r#"{"error":["a"],"message":"e"}"#, "e"),
        (r#"{"error":{"message":""},"message":"e"}"#, "e"),
        (r#"{"error":null,"detail":7,"title":{},"message":"e"}"#, "e"),
    ] {
        assert_eq!(message(400, body), expected, "{body}");
    }
}

#[test]
fn an_error_response_without_a_message_gets_one_from_its_status() {
    for body in [
        "",
        "<html><title>502 Bad Gateway</title></html>",
        r#"{"error":"cut"#,
        "null",
        r#"[{"error":"a"}]"#,
        "{}",
    ] {
        let error = api_error(head(502), body.as_bytes());
        assert_eq!(error.message, "bad gateway", "{body}");
        assert_eq!((error.details.len(), error.code), (0, None), "{body}");
    }
    let expected = "internal server error";
    assert_eq!(api_error(head(500), b"\xff\xfe\x00").message, expected);
    let deep = "[".repeat(100_000);
    assert_eq!(message(500, &deep), "internal server error");
}

#[test]
fn a_long_message_is_truncated_to_a_thousand_characters() {
    let thousand = "é".repeat(1000);
    let found = message(400, &format!(r#"{{"error":"{thousand}"}}"#));
    assert_eq!(found, thousand);
    let found = message(400, &format!(r#"{{"error":"{thousand}x"}}"#));
    assert_eq!(found, format!("{thousand}…"));
    let body = format!(r#"{{"error":"a","details":[{{"message":"{thousand}x"}}]}}"#);
    let error = api_error(head(400), body.as_bytes());
    assert_eq!(error.details, [format!("{thousand}…")]);
}

#[test]
fn only_the_first_twenty_details_are_kept() {
    let list: Vec<_> = (0..21)
        .map(|at| format!(r#"{{"message":"{at}"}}"#))
        .collect();
    let body = format!(r#"{{"error":"a","details":[{}]}}"#, list.join(","));
    let kept: Vec<_> = (0..20).map(|at| at.to_string()).collect();
    assert_eq!(api_error(head(400), body.as_bytes()).details, kept);
}

#[test]
fn a_redirect_names_the_origin_of_its_target() {
    for (location, target) in [
        ("https://gate.example/a?b#c", "https://gate.example"),
        (
            "https://me:x@gate.example:8443",
            "https://gate.example:8443",
        ),
        ("/login?next=https://gate.example", "/login"),
    ] {
        let location = Some(location.to_owned());
        let head = Head {
            location,
            ..head(301)
        };
        let expected = format!("a redirect to {target}, which is not followed");
        assert_eq!(api_error(head, br#"{"title":"Moved"}"#).message, expected);
    }
}

#[test]
fn an_api_error_carries_the_request_id_and_retry_after() {
    let head = |retry_after: Option<&str>| Head {
        status: 429,
        request_id: Some("req_1".into()),
        retry_after: retry_after.map(str::to_owned),
        ..Head::default()
    };
    for (retry_after, wait) in [
        (None, None),
        (Some("7"), Some(Millis(7_000))),
        (Some("Sun, 06 Nov 1994 08:49:40 GMT"), Some(Millis(3_000))),
        (Some("Sun, 06 Nov 1994 08:49:30 GMT"), Some(Millis(0))),
        (Some("soon"), None),
        (Some(""), None),
    ] {
        let error = api_error(head(retry_after), br#"{"error":"slow down"}"#);
        let expected = wait.map(Duration::from);
        assert_eq!(error.retry_after, expected, "{retry_after:?}");
        assert_eq!(error.request_id.as_deref(), Some("req_1"));
        assert_eq!(head(retry_after).wait(NOW), wait);
    }
}
