//! What becomes of the upstream's answers.

use quillgate::credential::AdminKey;
use quillgate::response::Head;
use quillgate::{ApiError, Method, Millis};
use quillgate_worker::problem::Problem;
use quillgate_worker::upstream::{
    Reading, Silence, USUAL_WAIT, error, error_body, key_refused, key_trouble, malformed, reading,
    silence, uncertain,
};
use serde_json::json;

use crate::setting::{ADMIN_KEY, NOW, json_of};

const JSON: Option<&str> = Some("application/json");

fn keys(keys: &[&str]) -> Vec<AdminKey> {
    keys.iter()
        .map(|key| AdminKey::new(*key).unwrap())
        .collect()
}

/// The error that an answer with this status and body is.
fn api_error(status: u16, retry_after: Option<&str>, body: &str) -> ApiError {
    api_error_with(&keys(&[ADMIN_KEY]), status, retry_after, body)
}

fn api_error_with(
    keys: &[AdminKey],
    status: u16,
    retry_after: Option<&str>,
    body: &str,
) -> ApiError {
    let head = Head {
        status,
        request_id: None,
        retry_after: retry_after.map(str::to_owned),
    };
    head.api_error(error_body(body, keys).as_ref(), NOW)
}

/// All that the caller and the log are told of an error with this body.
fn told(keys: &[AdminKey], body: &str) -> String {
    let told = api_error_with(keys, 500, None, body);
    let problem = error(&told, Method::Post).to_json("an-id");
    format!(
        "{problem}\n{told:?}\n{}",
        key_trouble("ADMIN_API_KEY", 401, &told.message)
    )
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
        r#"{"error":"Invalid query parameters","details":[{"message":"a"},{"message":"b"}]}"#;
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
        "",
        "<html>Bad gateway</html>",
        "\u{fffd}\u{fffd}",
        "[]",
        "null",
        "{\"error\":{}}",
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
        let problem = error(&api_error(status, None, "{}"), Method::Get);
        assert_eq!(problem.status, 502, "{status}");
        assert_eq!(json_of(&problem)["upstream"]["status"], status);
    }
    for status in 400..=599 {
        assert_eq!(
            error(&api_error(status, None, "{}"), Method::Get).status,
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
        let problem = error(&api_error(status, sent, ""), Method::Get);
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
        ..api_error(429, None, "")
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
    let error_with_key = api_error(500, None, &body.to_string());
    assert_eq!(error_with_key.message, "Invalid API key: [key]");
    assert!(
        !error(&error_with_key, Method::Get)
            .to_json("an-id")
            .contains(ADMIN_KEY)
    );
    // At the place where long words are cut off, too.
    let long = json!({ "error": format!("{}{ADMIN_KEY}", "x".repeat(990)) }).to_string();
    assert!(!api_error(500, None, &long).message.contains("mint_"));
}

#[test]
fn none_of_several_keys_is_repeated_wherever_it_stands() {
    let names = [
        "mint_the_newest_write_key",
        "mint_the_older_write_key",
        "mint_a_read_key",
    ];
    let every = names.join(" ");
    for body in [
        json!({ "error": every }),
        json!({ "error": { "message": every } }),
        json!({ "detail": every, "type": names[0] }),
        json!({ "message": every, "details": [{ "message": every }], "errors": [{ "detail": every }] }),
        json!({ "title": format!("x{}x{}", names.concat(), names[2]) }),
    ] {
        let told = told(&keys(&names), &body.to_string());
        assert!(told.contains("[key]"), "{told}");
        assert!(!told.contains("mint_"), "{told}");
    }
    // An upstream with no key to know has nothing taken out of its words.
    let body = json!({ "error": every }).to_string();
    assert_eq!(api_error_with(&[], 500, None, &body).message, every);
}

#[test]
fn a_key_is_not_repeated_in_json_escapes_either() {
    for (key, written) in [
        (ADMIN_KEY, ADMIN_KEY.replace('_', "\\u005f")),
        (ADMIN_KEY, ADMIN_KEY.replace('m', "\\u006D")),
        ("mint_of/base/64", "mint_of\\/base\\/64".to_owned()),
        ("mint_of\\slash", "mint_of\\\\slash".to_owned()),
        ("mint_of\"quote", "mint_of\\\"quote".to_owned()),
    ] {
        let body = format!(r#"{{"error":"no such key: {written}"}}"#);
        let error = api_error_with(&keys(&[key]), 500, None, &body);
        assert!(error.message.starts_with("no such key: "), "{body}");
        assert!(!error.message.contains(key), "{body}");
    }
}

#[test]
fn a_key_that_begins_like_another_one_does_not_leave_the_rest_of_that() {
    let body = json!({ "error": "mint_short_and_the_secret_rest" }).to_string();
    for order in [
        ["mint_short", "mint_short_and_the_secret_rest"],
        ["mint_short_and_the_secret_rest", "mint_short"],
    ] {
        let told = told(&keys(&order), &body);
        assert!(!told.contains("secret_rest"), "{told}");
    }
}

#[test]
fn what_the_log_says_of_a_refused_key_holds_no_key() {
    for status in [401, 403] {
        let body = json!({ "error": format!("the key {ADMIN_KEY} has expired") }).to_string();
        let refused = api_error(status, None, &body);
        let trouble = key_trouble("ADMIN_READ_KEY", status, &refused.message);
        assert!(!trouble.contains("mint_"), "{trouble}");
        let begins = format!("the upstream refused ADMIN_READ_KEY with {status}: ");
        assert!(trouble.starts_with(&begins), "{trouble}");
        assert!(trouble.contains("the key [key] has expired"), "{trouble}");
    }
    let silent = key_trouble("ADMIN_API_KEY", 401, &api_error(401, None, "").message);
    assert!(silent.contains("401: unauthorized;"), "{silent}");
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
        let failed = api_error(status, None, "{}");
        let written = error(&failed, Method::Post);
        assert_eq!(written.members.contains_key("outcome"), unknown, "{status}");
        assert!(!error(&failed, Method::Get).members.contains_key("outcome"));
    }
}

#[test]
fn an_errors_details_are_passed_on_in_the_upstreams_own_shape() {
    let body = r#"{"error":"invalid","details":[{"message":"limit is too large"}]}"#;
    let json = json_of(&error(&api_error(400, None, body), Method::Get));
    assert_eq!(json["details"][0]["message"], "limit is too large");
    let json = json_of(&error(&api_error(400, None, "{}"), Method::Get));
    assert!(json.get("details").is_none());
}

#[test]
fn a_success_that_is_not_what_was_promised_is_no_success() {
    let read = malformed(Method::Get);
    assert_eq!((read.status, read.kind), (502, "upstream-malformed"));
    assert!(read.members.is_empty());
    let written = json_of(&malformed(Method::Post));
    assert_eq!(written["status"], 502);
    assert_eq!(written["outcome"], "unknown");
}

#[test]
fn only_a_request_that_writes_can_have_an_unknown_outcome() {
    let problem = || Problem::gate_unavailable();
    assert_eq!(uncertain(problem(), Method::Get), problem());
    let written = uncertain(problem(), Method::Post);
    assert_eq!(json_of(&written)["outcome"], "unknown");
    assert_eq!(written.headers, problem().headers);
    for (status, content_type) in [(302, JSON), (200, None)] {
        let Reading::Problem(problem) = reading(status, content_type) else {
            panic!("{status} was taken");
        };
        let written = json_of(&uncertain(problem, Method::Post));
        assert_eq!(written["outcome"], "unknown", "{status}");
    }
}

#[test]
fn the_usual_wait_is_a_minute() {
    assert_eq!(USUAL_WAIT, Millis(60_000));
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
