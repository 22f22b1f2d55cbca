use quillgate::declaration::Repeat;
use quillgate::{CallOptions, Idempotency, Millis, Rule, ValidationError};
use serde_json::{Value, json};

const MAX_MILLIS: u64 = (1 << 31) - 1;

fn parse(options: &Value) -> Result<CallOptions, ValidationError> {
    CallOptions::parse(options)
}

#[track_caller]
fn assert_rejected(options: &Value, field: &str, rule: Rule) {
    let error = parse(options).unwrap_err();
    assert_eq!((&*error.field, error.rule), (field, rule), "{options}");
}

#[test]
fn absent_and_null_options_have_their_defaults() {
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
fn every_option_is_parsed() {
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
fn timeouts_are_limited_to_the_range_of_a_timer() {
    for time in [1, 2, MAX_MILLIS] {
        let options = parse(&json!({ "timeout": time })).unwrap();
        assert_eq!(options.timeout, Millis(time));
        let options = parse(&json!({ "totalTimeout": time })).unwrap();
        assert_eq!(options.total_timeout, Some(Millis(time)));
    }
    for field in ["timeout", "totalTimeout"] {
        for time in [
            json!(0),
            json!(-1),
            json!(MAX_MILLIS + 1),
            json!(1.5),
            json!(1e300),
        ] {
            assert_rejected(&json!({ field: time }), field, Rule::MILLISECONDS);
        }
    }
}

#[test]
fn max_retries_is_an_integer_from_0_to_10() {
    for count in 0..=10 {
        let options = parse(&json!({ "maxRetries": count })).unwrap();
        assert_eq!(options.max_retries, count);
    }
    for count in [json!(-1), json!(11), json!(0.5), json!(1_u64 << 32)] {
        let options = json!({ "maxRetries": count });
        assert_rejected(&options, "maxRetries", Rule::RETRY_COUNT);
    }
}

#[test]
fn numeric_options_reject_values_of_other_types() {
    for value in [json!("1"), json!(true), json!([1]), json!({}), json!("")] {
        for (field, rule) in [
            ("timeout", Rule::MILLISECONDS),
            ("totalTimeout", Rule::MILLISECONDS),
            ("maxRetries", Rule::RETRY_COUNT),
        ] {
            assert_rejected(&json!({ field: value }), field, rule);
        }
    }
}

#[test]
fn an_idempotency_key_is_a_string_of_visible_ascii_characters() {
    let options = json!({ "idempotencyKey": "a b" });
    assert_rejected(&options, "idempotencyKey", Rule::IdempotencyKey);
    for key in [json!(1), json!(false), json!(["k"]), json!({})] {
        let options = json!({ "idempotencyKey": key });
        assert_rejected(&options, "idempotencyKey", Rule::Text);
    }
}

#[test]
fn a_webhook_url_is_an_absolute_https_url_or_http_on_this_machine() {
    let longest = format!("https://a.example/{}", "x".repeat(2048 - 18));
    for url in [
        "https://hooks.example/quillgate?a=@b",
        "https://hooks.example",
        "http://localhost:8080/hook",
        "http://127.0.0.1",
        &longest,
    ] {
        let options = json!({ "webhookUrl": url, "gateway": true });
        assert!(parse(&options).is_ok(), "{url}");
    }
    for url in [
        "",
        "hooks.example",
        "http://hooks.example",
        "https://",
        "https://user:pass@hooks.example",
        "https://hooks.example/#part",
        "https://hooks.example\\@other.example",
        "https://hooks.example/é",
        &format!("{longest}x"),
    ] {
        let options = json!({ "webhookUrl": url, "gateway": true });
        assert_rejected(&options, "webhookUrl", Rule::WebhookUrl);
    }
    let error = parse(&json!({ "webhookUrl": "x", "gateway": true })).unwrap_err();
    let expected = "webhookUrl must be an absolute https URL, or http on this machine, without credentials or fragment";
    assert_eq!(error.to_string(), expected);
    let options = json!({ "webhookUrl": 5, "gateway": true });
    assert_rejected(&options, "webhookUrl", Rule::Text);
}

#[test]
fn a_webhook_url_needs_a_gateway() {
    let url = "https://hooks.example";
    for options in [
        json!({ "webhookUrl": url }),
        json!({ "webhookUrl": url, "gateway": false }),
    ] {
        assert_rejected(&options, "webhookUrl", Rule::GatewayOnly);
    }
}

#[test]
fn only_a_call_with_a_key_is_deduplicated() {
    for (key, deduplicated, is_deduplicated) in [
        (json!("k"), json!(true), true),
        (json!("k"), json!(false), false),
        (json!("k"), json!(null), false),
        (json!(null), json!(true), false),
    ] {
        let options = json!({ "idempotencyKey": key, "deduplicated": deduplicated });
        let parsed = parse(&options).unwrap();
        assert_eq!(parsed.is_deduplicated, is_deduplicated, "{options}");
    }
}

#[test]
fn only_a_deduplicated_keyed_call_is_idempotent_by_key() {
    for is_deduplicated in [true, false] {
        let options = CallOptions {
            is_deduplicated,
            ..CallOptions::default()
        };
        let expected = if is_deduplicated {
            Idempotency::WithKey
        } else {
            Idempotency::NonIdempotent
        };
        assert_eq!(options.idempotency(Repeat::Keyed), expected);
        assert_eq!(options.idempotency(Repeat::Safe), Idempotency::Idempotent);
        let expected = Idempotency::NonIdempotent;
        assert_eq!(options.idempotency(Repeat::Never), expected);
    }
}
