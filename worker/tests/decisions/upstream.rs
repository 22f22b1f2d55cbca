//! What becomes of the upstream's answers.

use quillgate::credential::AdminKey;
use quillgate::response::Head;
use quillgate::{ApiError, Method, Millis};
use quillgate_worker::upstream::{
    Reading, Silence, error, error_body, key_refused, reading, silence,
};
use serde_json::json;

use crate::setting::{ADMIN_KEY, NOW, json_of};

const JSON: Option<&str> = Some("application/json");

fn key() -> AdminKey {
    AdminKey::new(ADMIN_KEY).unwrap()
}

/// The error that an answer with this status and body is.
fn api_error(status: u16, retry_after: Option<&str>, body: &[u8]) -> ApiError {
    let head = Head {
        status,
        request_id: None,
        retry_after: retry_after.map(str::to_owned),
    };
    head.api_error(error_body(body, &key()).as_ref(), NOW)
}

#[test]
fn a_success_is_any_2xx_that_is_json() {
    for status in [200, 201, 202, 299] {
        for content_type in ["application/json", "Application/JSON; charset=utf-8"] {
            assert_eq!(reading(status, Some(content_type)), Reading::Success);
        }
    }
}

#[test]
fn a_2xx_that_is_something_else_is_no_success() {
    for content_type in [
        None,
        Some(""),
        Some("text/html"),
        Some("application/problem+json"),
        Some("text/html, application/json"),
        Some("application/javascript"),
    ] {
        for status in [200, 201, 204, 206] {
            let Reading::Problem(problem) = reading(status, content_type) else {
                panic!("{status} {content_type:?} was taken");
            };
            assert_eq!((problem.status, problem.kind), (502, "upstream-malformed"));
        }
    }
}

#[test]
fn a_redirect_is_never_followed_nor_passed_on() {
    for status in 300..=399 {
        let Reading::Problem(problem) = reading(status, JSON) else {
            panic!("{status} was taken");
        };
        assert_eq!((problem.status, problem.kind), (502, "upstream-redirect"));
        assert_eq!(problem.headers, []);
    }
}

#[test]
fn a_refused_key_is_the_operators_problem() {
    for status in [401, 403] {
        assert_eq!(reading(status, JSON), Reading::KeyRefused);
        assert_eq!(reading(status, None), Reading::KeyRefused);
    }
    let problem = key_refused();
    assert_eq!((problem.status, problem.kind), (502, "upstream-credential"));
    assert_eq!(problem.headers, [], "no challenge for the caller");
    assert!(problem.members.is_empty());
}

#[test]
fn every_other_status_is_an_error() {
    for status in [
        100, 199, 400, 402, 404, 408, 418, 429, 499, 500, 502, 503, 599, 600, 999,
    ] {
        assert_eq!(reading(status, JSON), Reading::Error, "{status}");
    }
}

#[test]
fn no_status_at_all_is_read_as_a_success_by_mistake() {
    for status in 0..=999 {
        let success = reading(status, JSON) == Reading::Success;
        assert_eq!(success, (200..=299).contains(&status), "{status}");
    }
}

#[test]
fn an_error_keeps_its_status_and_words() {
    let body =
        br#"{"error":"Invalid query parameters","details":[{"message":"a"},{"message":"b"}]}"#;
    let problem = error(&api_error(400, None, body), Method::Get);
    assert_eq!((problem.status, problem.kind), (400, "upstream-error"));
    let expected =
        json!({ "status": 400, "error": "Invalid query parameters", "details": ["a", "b"] });
    assert_eq!(json_of(&problem)["upstream"], expected);
    assert_eq!(problem.detail, "Invalid query parameters");
}

#[test]
fn an_error_without_words_gets_the_statuss_own() {
    for body in [
        &b""[..],
        b"<html>Bad gateway</html>",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{\"error\":{}}",
    ] {
        let json = json_of(&error(&api_error(502, None, body), Method::Get));
        assert_eq!(
            json["upstream"],
            json!({ "status": 502, "error": "bad gateway", "details": [] })
        );
    }
}

#[test]
fn a_status_that_no_answer_can_have_becomes_502() {
    for status in [0, 100, 199, 600, 999, u16::MAX] {
        let problem = error(&api_error(status, None, b"{}"), Method::Get);
        assert_eq!(problem.status, 502, "{status}");
        assert_eq!(json_of(&problem)["upstream"]["status"], status);
    }
    for status in 400..=599 {
        assert_eq!(
            error(&api_error(status, None, b"{}"), Method::Get).status,
            status
        );
    }
}

#[test]
fn whoever_is_asked_to_wait_is_told_how_long() {
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
        let problem = error(&api_error(status, sent, b""), Method::Get);
        let wait = problem
            .headers
            .iter()
            .find(|(name, _)| *name == "retry-after");
        assert_eq!(
            wait.map(|(_, value)| value.as_str()),
            expected,
            "{status} {sent:?}"
        );
    }
    let wait = ApiError {
        retry_after: Some(Millis(1001)),
        ..api_error(429, None, b"")
    };
    assert_eq!(
        error(&wait, Method::Get).headers,
        [("retry-after", "2".to_owned())]
    );
}

#[test]
fn an_upstream_that_repeats_the_key_is_not_repeated() {
    let body = json!({
        "error": format!("Invalid API key: {ADMIN_KEY}"),
        "details": [{ "message": format!("Bearer {ADMIN_KEY} {ADMIN_KEY}") }],
    });
    let error_with_key = api_error(500, None, body.to_string().as_bytes());
    assert_eq!(error_with_key.message, "Invalid API key: [key]");
    assert!(
        !error(&error_with_key, Method::Get)
            .to_json("an-id")
            .contains(ADMIN_KEY)
    );
    // At the place where long words are cut off, too.
    let long = json!({ "error": format!("{}{ADMIN_KEY}", "x".repeat(990)) }).to_string();
    assert!(
        !api_error(500, None, long.as_bytes())
            .message
            .contains("mint_")
    );
}

#[test]
fn an_upstream_that_failed_at_a_post_leaves_its_outcome_unknown() {
    for (status, unknown) in [
        (500, true),
        (502, true),
        (999, true),
        (400, false),
        (429, false),
    ] {
        let failed = api_error(status, None, b"{}");
        let written = error(&failed, Method::Post);
        assert_eq!(written.members.contains_key("outcome"), unknown, "{status}");
        assert!(!error(&failed, Method::Get).members.contains_key("outcome"));
    }
}

#[test]
fn an_errors_details_are_passed_on_in_the_upstreams_own_shape() {
    let body = br#"{"error":"invalid","details":[{"message":"limit is too large"}]}"#;
    let json = json_of(&error(&api_error(400, None, body), Method::Get));
    assert_eq!(json["details"][0]["message"], "limit is too large");
    let json = json_of(&error(&api_error(400, None, b"{}"), Method::Get));
    assert!(json.get("details").is_none());
}

#[test]
fn silence_after_a_post_leaves_its_outcome_unknown() {
    for (cause, status, kind) in [
        (Silence::Broken, 502, "upstream-unreachable"),
        (Silence::TimedOut, 504, "upstream-timeout"),
    ] {
        let read = silence(cause, Method::Get);
        assert_eq!((read.status, read.kind), (status, kind));
        assert!(read.members.is_empty());
        let written = json_of(&silence(cause, Method::Post));
        assert_eq!(written["outcome"], "unknown");
        assert_eq!(written["status"], status);
    }
}
