//! What a caller may say about one call.

use quillgate::{CallOptions, Idempotency, Method, Millis, Rule, ValidationError};
use serde_json::{Value, json};

const LONGEST: u64 = (1 << 31) - 1;

fn parse(options: &Value) -> Result<CallOptions, ValidationError> {
    CallOptions::parse(options)
}

#[track_caller]
fn assert_refused(options: &Value, field: &str, rule: Rule) {
    match parse(options) {
        Err(error) => assert_eq!(
            (error.field.as_ref(), error.rule),
            (field, rule),
            "{options}"
        ),
        Ok(options) => panic!("not refused but {options:?}"),
    }
}

#[test]
fn what_is_left_out_or_null_is_the_default() {
    let defaults = CallOptions {
        timeout: Millis(60_000),
        total_timeout: None,
        max_retries: 2,
        is_deduplicated: false,
    };
    assert_eq!(CallOptions::default(), defaults);
    let nulls = json!({
        "timeout": null,
        "totalTimeout": null,
        "maxRetries": null,
        "idempotencyKey": null,
        "deduplicated": null,
    });
    for options in [json!({}), json!(null), nulls] {
        assert_eq!(parse(&options), Ok(defaults), "{options}");
    }
}

#[test]
fn every_member_is_read() {
    let options = json!({
        "timeout": 1_500,
        "totalTimeout": 9_000,
        "maxRetries": 7,
        "idempotencyKey": "k1",
        "deduplicated": true,
    });
    let expected = CallOptions {
        timeout: Millis(1_500),
        total_timeout: Some(Millis(9_000)),
        max_retries: 7,
        is_deduplicated: true,
    };
    assert_eq!(parse(&options), Ok(expected));
}

#[test]
fn times_are_what_a_timer_takes() {
    for time in [1, 2, LONGEST] {
        let options = parse(&json!({ "timeout": time })).unwrap();
        assert_eq!(options.timeout, Millis(time));
        let options = parse(&json!({ "totalTimeout": time })).unwrap();
        assert_eq!(options.total_timeout, Some(Millis(time)));
    }
    for field in ["timeout", "totalTimeout"] {
        for time in [
            json!(0),
            json!(-1),
            json!(LONGEST + 1),
            json!(1.5),
            json!(1e300),
        ] {
            assert_refused(&json!({ field: time }), field, Rule::MILLISECONDS);
        }
    }
}

#[test]
fn a_request_is_sent_again_up_to_10_times() {
    for count in 0..=10 {
        let options = parse(&json!({ "maxRetries": count })).unwrap();
        assert_eq!(options.max_retries, count);
    }
    for count in [json!(-1), json!(11), json!(0.5), json!(1_u64 << 32)] {
        assert_refused(
            &json!({ "maxRetries": count }),
            "maxRetries",
            Rule::RETRY_COUNT,
        );
    }
}

#[test]
fn numbers_are_numbers_and_nothing_that_looks_like_one() {
    for value in [json!("1"), json!(true), json!([1]), json!({}), json!("")] {
        for (field, rule) in [
            ("timeout", Rule::MILLISECONDS),
            ("totalTimeout", Rule::MILLISECONDS),
            ("maxRetries", Rule::RETRY_COUNT),
        ] {
            assert_refused(&json!({ field: value }), field, rule);
        }
    }
}

#[test]
fn an_idempotency_key_is_1_to_255_visible_ascii_characters() {
    for key in ["k", "!~", &"k".repeat(255)] {
        assert!(parse(&json!({ "idempotencyKey": key })).is_ok(), "{key}");
    }
    for key in ["", " ", "a b", "a\n", "é", "\u{7f}", &"k".repeat(256)] {
        let options = json!({ "idempotencyKey": key });
        assert_refused(&options, "idempotencyKey", Rule::IdempotencyKey);
    }
    for key in [json!(1), json!(false), json!(["k"]), json!({})] {
        assert_refused(
            &json!({ "idempotencyKey": key }),
            "idempotencyKey",
            Rule::Text,
        );
    }
}

#[test]
fn only_a_call_with_a_key_is_deduplicated() {
    for (options, is_deduplicated) in [
        (json!({ "idempotencyKey": "k", "deduplicated": true }), true),
        (
            json!({ "idempotencyKey": "k", "deduplicated": false }),
            false,
        ),
        (json!({ "idempotencyKey": "k" }), false),
        (
            json!({ "idempotencyKey": null, "deduplicated": true }),
            false,
        ),
        (json!({ "deduplicated": true }), false),
    ] {
        let parsed = parse(&options).unwrap();
        assert_eq!(parsed.is_deduplicated, is_deduplicated, "{options}");
    }
}

#[test]
fn only_true_says_that_calls_are_deduplicated() {
    for value in [json!("true"), json!(1), json!([true]), json!({})] {
        let options = json!({ "idempotencyKey": "k", "deduplicated": value });
        assert!(!parse(&options).unwrap().is_deduplicated, "{options}");
    }
}

#[test]
fn the_first_that_breaks_a_rule_is_refused() {
    let mut options = json!({
        "idempotencyKey": "",
        "maxRetries": 11,
        "timeout": 0,
        "totalTimeout": 0,
    });
    for (field, rule) in [
        ("idempotencyKey", Rule::IdempotencyKey),
        ("maxRetries", Rule::RETRY_COUNT),
        ("timeout", Rule::MILLISECONDS),
        ("totalTimeout", Rule::MILLISECONDS),
    ] {
        assert_refused(&options, field, rule);
        options[field] = Value::Null;
    }
    assert!(parse(&options).is_ok());
}

#[test]
fn what_is_not_an_option_is_ignored() {
    let options =
        json!({ "baseUrl": "https://example.com", "Timeout": 0, "params": { "timeout": 0 } });
    assert_eq!(parse(&options), Ok(CallOptions::default()));
}

#[test]
fn only_a_deduplicated_post_is_recognised_by_its_key() {
    for is_deduplicated in [true, false] {
        let options = CallOptions {
            is_deduplicated,
            ..CallOptions::default()
        };
        let by_key = if is_deduplicated {
            Idempotency::ByKey
        } else {
            Idempotency::None
        };
        assert_eq!(options.idempotency(Method::Get), Idempotency::Safe);
        assert_eq!(options.idempotency(Method::Delete), Idempotency::Safe);
        assert_eq!(options.idempotency(Method::Post), by_key);
    }
}
