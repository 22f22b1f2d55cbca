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
    let invalid = |field: &'static str, rule, found| ValidationError::new(field, rule, found);
    let wrong = |at: &'static str| DecodeError::new(at, "is wrong");
    let limit = "limit must be an integer from 1 to 250, found 0";
    let errors: [(Error, &str); 5] = [
        (invalid("limit", Rule::PAGE_SIZE, "0").into(), limit),
        (
            invalid("prompt", Rule::Required, "").into(),
            "prompt is required",
        ),
        (api.into(), "status 429: slow down"),
        (wrong("views[3].human").into(), "views[3].human is wrong"),
        (wrong("").into(), "body is wrong"),
    ];
    for (error, text) in errors {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn rule_names_are_stable() {
    let names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    let expected = "required text not-empty not-dot-segment path-segment id-length \
        no-control-character not-with-offset ulid date-format calendar-date before-date-to base-url \
        secure-base-url admin-key idempotency-key credential webhook-url request-path header \
        gateway-only unknown once one-of page-size offset page milliseconds retry-count";
    assert_eq!(names.join(" "), expected);
}
