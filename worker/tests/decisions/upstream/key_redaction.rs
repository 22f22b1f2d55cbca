use quillgate::Method;
use quillgate::credential::AdminKey;
use quillgate_worker::upstream::failure::{
    KeyOutcome, classify_error, classify_leak, error_problem,
};
use quillgate_worker::upstream::upstream_settings::UpstreamSettings;
use serde_json::json;

use super::{JSON, api_error, api_error_with, head, keys, with_field};
use crate::fixtures::{ADMIN_KEY, NOW, configuration, configure, summarize};

/// Returns the caller's problem and the log lines for an upstream error with `body`.
fn describe(keys: &[AdminKey], body: &str) -> String {
    let error = api_error_with(keys, 500, None, body);
    let problem = error_problem(&error, Method::Post).to_json("an-id");
    let settings = UpstreamSettings {
        admin_keys: keys.to_vec(),
        ..configuration().upstream
    };
    let lines = [(401, JSON), (403, JSON), (403, None)].map(|(status, content_type)| {
        log_line(&settings, Method::Post, status, content_type, body)
    });
    format!("{problem}\n{error:?}\n{}", lines.join("\n"))
}

/// Returns the message for the operator about a refusal.
fn log_line(
    settings: &UpstreamSettings,
    method: Method,
    status: u16,
    content_type: Option<&str>,
    body: &str,
) -> String {
    let head = head(status, content_type);
    let failure = classify_error(&head, body, method, settings, NOW);
    failure.problem.operator.unwrap()
}

#[test]
fn key_in_an_upstream_error_is_redacted() {
    let body = json!({
        "error": format!("Invalid API key: {ADMIN_KEY}"),
        "details": [{ "message": format!("Bearer {ADMIN_KEY} {ADMIN_KEY}") }],
    });
    let error_with_key = api_error(500, None, &body.to_string());
    assert_eq!(error_with_key.message, "Invalid API key: [key]");
    let problem = error_problem(&error_with_key, Method::Get);
    assert!(!problem.to_json("an-id").contains(ADMIN_KEY));
    // A key is also redacted where a long message is truncated.
    let long = json!({ "error": format!("{}{ADMIN_KEY}", "x".repeat(990)) }).to_string();
    assert!(!api_error(500, None, &long).message.contains("mint_"));
}

#[test]
fn all_keys_are_redacted_in_any_position() {
    let names = [
        "mint_new_write_key",
        "mint_old_write_key",
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
        let shown = describe(&keys(&names), &body.to_string());
        assert!(shown.contains("[key]"), "{shown}");
        assert!(!shown.contains("mint_"), "{shown}");
    }
    // If no key is configured, the message is unchanged.
    let body = json!({ "error": every }).to_string();
    assert_eq!(api_error_with(&[], 500, None, &body).message, every);
}

#[test]
fn key_in_json_escapes_is_redacted() {
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
fn key_with_a_shared_prefix_is_redacted_in_full() {
    let (short, long) = ("mint_short", "mint_short_and_the_secret_rest");
    let body = json!({ "error": long }).to_string();
    for order in [[short, long], [long, short]] {
        let shown = describe(&keys(&order), &body);
        assert!(!shown.contains("secret_rest"), "{shown}");
    }
}

#[test]
fn log_line_about_a_refusal_contains_no_key() {
    let config = configuration();
    let line = |status, body: &str| log_line(&config.upstream, Method::Get, status, None, body);
    for status in [401, 403] {
        let body = json!({ "error": format!("the key {ADMIN_KEY} has expired") }).to_string();
        let line = line(status, &body);
        assert!(!line.contains("mint_"), "{line}");
        let begins = format!("Mintlify rejected ADMIN_API_KEY with {status}: ");
        assert!(line.starts_with(&begins), "{line}");
        assert!(line.contains("the key [key] has expired"), "{line}");
    }
    assert!(line(401, "").contains("401: unauthorized;"));
    let escaped = ADMIN_KEY.replace('_', "\\u005f");
    for body in [
        format!("<title>Blocked: {ADMIN_KEY}</title>"),
        format!("{}{ADMIN_KEY}", "x".repeat(490)),
        format!(r#"{{"error":"{escaped}"}} cut off"#),
    ] {
        let line = line(403, &body);
        assert!(!line.contains(&ADMIN_KEY[..8]), "{line}");
    }
}

#[test]
fn operator_message_identifies_a_rejected_key_without_its_text() {
    let keys = [
        ("ADMIN_API_KEY", Some("mint_new_write, mint_old_write")),
        ("ADMIN_READ_KEY", Some("mint_new_read, mint_old_read")),
    ];
    let every = "mint_new_write mint_old_write mint_new_read mint_old_read";
    let body = json!({ "error": every }).to_string();
    for (config, method, variable) in [
        (configure(&keys), Method::Get, "ADMIN_READ_KEY"),
        (configure(&keys), Method::Post, "ADMIN_API_KEY"),
        (configure(&keys[..1]), Method::Get, "ADMIN_API_KEY"),
        (configure(&keys[..1]), Method::Post, "ADMIN_API_KEY"),
    ] {
        for status in [401, 403] {
            let line = log_line(&config.upstream, method, status, JSON, &body);
            let begins = format!("Mintlify rejected {variable} with {status}: ");
            assert!(line.starts_with(&begins), "{line}");
            assert!(!line.contains("write ") && line.contains("[key]"), "{line}");
        }
    }
    let config = configure(&keys);
    for status in [400, 500, 999] {
        let head = head(status, JSON);
        let failure = classify_error(&head, &body, Method::Get, &config.upstream, NOW);
        let shown = format!("{} {failure:?}", failure.problem.to_json("an-id"));
        let is_redacted = !shown.contains("mint_") && shown.contains("[key]");
        assert!(is_redacted, "{shown}");
    }
}

#[test]
fn success_that_contains_a_key_is_withheld() {
    let config = configure(&[
        ("ADMIN_API_KEY", Some("mint_new_write,mint_old_write")),
        ("ADMIN_READ_KEY", Some("mint_read")),
    ]);
    let hidden = "mint_old_write".bytes();
    let escaped: Vec<_> = hidden.map(|byte| format!("\\u{byte:04X}")).collect();
    let escaped = escaped.concat();
    for (body, variable) in [
        (r#"{"id":"mint_new_write"}"#, "ADMIN_API_KEY"),
        (r#"{"mint_old_write":1}"#, "ADMIN_API_KEY"),
        (r#"{"id":"x mint_read x"}"#, "ADMIN_READ_KEY"),
        (r#"{"id":"\u006dint_ne\u0077_write"}"#, "ADMIN_API_KEY"),
        (r#"{"id":"\\\"\/\nmint\u005fread"}"#, "ADMIN_READ_KEY"),
        (&format!(r#"{{"id":"{escaped}"}}"#), "ADMIN_API_KEY"),
        // The key must not appear even if the JSON is malformed.
        (r#"{"mint_new_write \u00"#, "ADMIN_API_KEY"),
    ] {
        for method in [Method::Get, Method::Post] {
            let failure = classify_leak(&head(200, JSON), body, method, &config.upstream);
            let failure = failure.expect(body);
            let problem = failure.problem.to_json("an-id");
            assert_eq!(summarize(&failure.problem), "502 upstream-malformed");
            let outcome = failure.problem.members.get("outcome");
            assert_eq!(outcome.is_some(), method == Method::Post);
            assert_eq!(failure.key_outcome, KeyOutcome::Unknown);
            let line = failure.problem.operator.unwrap();
            assert!(line.contains(variable), "{line}");
            assert!(!format!("{problem}{line}").contains("mint_"), "{line}");
        }
    }
}

#[test]
fn forwarded_header_field_that_contains_a_key_is_withheld() {
    let config = configure(&[]);
    let language = with_field(head(200, JSON), "content-language", Some(ADMIN_KEY));
    let parameter = head(200, Some(&format!("application/json; x={ADMIN_KEY}")));
    for head in [language, parameter] {
        let failure = classify_leak(&head, "{}", Method::Get, &config.upstream);
        assert_eq!(failure.unwrap().problem.status, 502);
    }
}

#[test]
fn success_without_a_key_is_forwarded() {
    let config = configure(&[("ADMIN_API_KEY", Some("mint_secret"))]);
    for body in [
        "{}",
        r#"{"id":"mint_secre"}"#,
        r#"{"id":"MINT_SECRET"}"#,
        // An escaped backslash, not an escaped letter.
        r#"{"id":"\\u006dint_secret"}"#,
        r#"{"id":"\u006","x":"\uD83D\uDE00 \u+06d"}"#,
        r#"{"id":"\u00é"}"#,
        "\\",
        "\\u",
    ] {
        let failure = classify_leak(&head(200, JSON), body, Method::Post, &config.upstream);
        assert_eq!(failure, None, "{body}");
    }
}
