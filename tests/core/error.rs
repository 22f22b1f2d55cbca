//! The names of errors, and their messages.

use std::error::Error as _;
use std::time::Duration;

use quillgate::error::Error;
use quillgate::{ApiError, DecodeError, Rule, ValidationError};

#[test]
fn error_messages_are_one_lower_case_sentence() {
    let api = ApiError {
        status: 429,
        message: "slow down".into(),
        details: vec!["100 an hour".into()],
        code: Some("/problems/rate".into()),
        request_id: Some("req_1".into()),
        retry_after: Some(Duration::from_millis(1)),
    };
    let errors: [(Error, &str); 5] = [
        (
            ValidationError::new("limit", Rule::PAGE_SIZE, "0").into(),
            "limit must be an integer from 1 to 250, found 0",
        ),
        (
            ValidationError::new("prompt", Rule::Required, "").into(),
            "prompt is required",
        ),
        (api.into(), "status 429: slow down"),
        (
            DecodeError::new("views[3].human", "is wrong").into(),
            "views[3].human is wrong",
        ),
        (DecodeError::new("", "is wrong").into(), "body is wrong"),
    ];
    for (error, text) in errors {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_wrapped_error_keeps_its_message_and_has_no_source() {
    let cause = ValidationError::new("limit", Rule::PAGE_SIZE, "0");
    let error = Error::from(cause.clone());
    assert_eq!(error.to_string(), cause.to_string());
    assert!(error.source().is_none());
}

#[test]
fn every_rule_has_a_unique_name_and_message() {
    for (at, rule) in Rule::ALL.iter().enumerate() {
        let name = rule.name();
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
            "{name}"
        );
        for other in &Rule::ALL[at + 1..] {
            assert_ne!(name, other.name());
            assert_ne!(rule.to_string(), other.to_string());
        }
    }
}

#[test]
fn rule_names_are_stable() {
    let names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(
        names,
        [
            "required",
            "text",
            "not-empty",
            "not-dot-segment",
            "path-segment",
            "id-length",
            "no-control-character",
            "not-with-offset",
            "ulid",
            "date-format",
            "calendar-date",
            "before-date-to",
            "base-url",
            "secure-base-url",
            "admin-key",
            "idempotency-key",
            "credential",
            "webhook-url",
            "request-path",
            "header",
            "gateway-only",
            "unknown",
            "once",
            "one-of",
            "page-size",
            "offset",
            "page",
            "milliseconds",
            "retry-count",
        ]
    );
}
