//! Failures as typed errors.

use std::error::Error as _;

use crate::fake_host::{FakeHost, KEY, ONCE, TOKEN, get_job, job_1};
use quillgate::client::{Error, IdempotencyKey, Server};
use quillgate::credential::{AccessToken, AdminKey, BaseUrl};
use quillgate::{CallOptions, ListPageViews, Millis, ProjectId, Rule, ValidationError};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn invalid_call_options_are_rejected_before_a_request_is_sent() {
    let defaults = CallOptions::default();
    for (options, field, rule) in [
        (
            CallOptions {
                timeout: Millis(0),
                ..defaults
            },
            "timeout",
            Rule::MILLISECONDS,
        ),
        (
            CallOptions {
                timeout: Millis(1 << 31),
                ..defaults
            },
            "timeout",
            Rule::MILLISECONDS,
        ),
        (
            CallOptions {
                total_timeout: Some(Millis(0)),
                ..defaults
            },
            "totalTimeout",
            Rule::MILLISECONDS,
        ),
        (
            CallOptions {
                max_retries: 11,
                ..defaults
            },
            "maxRetries",
            Rule::RETRY_COUNT,
        ),
    ] {
        let host = FakeHost::new::<&str>([]);
        let client = host.client();
        let list = client.analytics().views(ListPageViews::default());
        let mut rows = list.with_options(options).rows().unwrap();
        let errors = [
            get_job(&client).with_options(options).await.err(),
            get_job(&client.clone().with_options(options)).await.err(),
            rows.next().await.err(),
            client
                .agent_jobs()
                .wait(job_1())
                .with_options(options)
                .await
                .err(),
        ];
        for error in errors {
            let Some(Error::Validation(error)) = error else {
                panic!("expected {options:?} to be rejected, found {error:?}");
            };
            assert_eq!((error.field.as_ref(), error.rule), (field, rule));
        }
        assert_eq!(host.count(), 0, "{options:?}");
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
fn invalid_parts_of_a_client_are_rejected_without_repeating_a_credential() {
    let assert_rejected = |error: Option<ValidationError>, field: &str, rule: Rule| {
        let error = error.unwrap();
        assert_eq!((error.field.as_ref(), error.rule), (field, rule));
        let text = format!("{error} {error:?}");
        assert!(!text.contains("secret-1"), "{text}");
    };
    for base in ["gate.example", "https://u:secret-1@x.example", ""] {
        assert_rejected(BaseUrl::new(base).err(), "baseUrl", Rule::BaseUrl);
    }
    for token in ["secret-1\nx: y", "secret-1 ", ""] {
        assert_rejected(AccessToken::new(token).err(), "token", Rule::Credential);
    }
    for key in ["mint_dsc_secret-1", "mint_secret-1 ", "secret-1"] {
        assert_rejected(AdminKey::new(key).err(), "adminKey", Rule::AdminKey);
    }
    let key = AdminKey::new("mint_secret-1").unwrap();
    for (base, rule) in [
        ("http://x.example", Rule::SecureBaseUrl),
        ("x.example", Rule::BaseUrl),
    ] {
        let server = Server::platform_at(base, key.clone());
        assert_rejected(server.err(), "baseUrl", rule);
    }
    for key in ["secret-1 two words", "", &"x".repeat(256)] {
        let key = IdempotencyKey::new(key);
        assert_rejected(key.err(), "idempotencyKey", Rule::IdempotencyKey);
    }
    assert_rejected(ProjectId::new("..").err(), "projectId", Rule::NotDotSegment);
}

#[wasm_bindgen_test]
async fn a_base_url_that_the_host_rejects_is_reported_by_name() {
    let host = FakeHost::new::<&str>([]);
    let base = BaseUrl::new("https://gate.example:99999").unwrap();
    let server = Server::gateway(base, AccessToken::new(TOKEN).unwrap());
    let Err(Error::Validation(error)) = get_job(&host.client_of(server)).await else {
        panic!("expected the base URL to be rejected");
    };
    assert_eq!(
        (error.field.as_ref(), error.rule),
        ("baseUrl", Rule::BaseUrl)
    );
    host.assert_idle();
}

struct ExpectedError {
    response: &'static str,
    status: u16,
    message: &'static str,
    details: &'static [&'static str],
    code: Option<&'static str>,
    request_id: Option<&'static str>,
    retry_after: Option<Millis>,
}

const EXPECTED_ERROR: ExpectedError = ExpectedError {
    response: "",
    status: 0,
    message: "",
    details: &[],
    code: None,
    request_id: None,
    retry_after: None,
};

#[wasm_bindgen_test]
async fn an_api_error_carries_the_message_of_the_server() {
    for expected in [
        ExpectedError {
            response: r#"{"status":404,"headers":{"x-request-id":"r-1"},"json":{"error":"no such job"}}"#,
            status: 404,
            message: "no such job",
            request_id: Some("r-1"),
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":500,"json":{"error":"bad","details":[{"message":"one"},{"message":"two"}]}}"#,
            status: 500,
            message: "bad",
            details: &["one", "two"],
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":429,"headers":{"content-type":"application/problem+json","retry-after":"1800"},
                "json":{"type":"/problems/limit","title":"Limit","detail":"too many","errors":[{"detail":"d"}]}}"#,
            status: 429,
            message: "too many",
            details: &["d"],
            code: Some("/problems/limit"),
            retry_after: Some(Millis(1_800_000)),
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":502,"text":"<h1>Bad Gateway</h1>"}"#,
            status: 502,
            message: "bad gateway",
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":401}"#,
            status: 401,
            message: "unauthorized",
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":418,"json":"short and stout"}"#,
            status: 418,
            message: "the request was refused",
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":302,"headers":{"location":"https://elsewhere.example/"}}"#,
            status: 302,
            message: "a redirect, which is not followed",
            ..EXPECTED_ERROR
        },
        ExpectedError {
            response: r#"{"status":400,"text":"{\"error\":\"half"}"#,
            status: 400,
            message: "bad request",
            ..EXPECTED_ERROR
        },
    ] {
        let host = FakeHost::new([expected.response]);
        let result = get_job(&host.client()).with_options(ONCE).await;
        let Err(Error::Api(error)) = result else {
            panic!("{}: {result:?}", expected.response);
        };
        assert_eq!(error.status, expected.status);
        assert_eq!(error.message, expected.message);
        assert_eq!(error.details, expected.details);
        assert_eq!(error.code.as_deref(), expected.code);
        assert_eq!(error.request_id.as_deref(), expected.request_id);
        assert_eq!(error.retry_after, expected.retry_after);
        let text = Error::Api(error).to_string();
        assert_eq!(
            text,
            format!("status {}: {}", expected.status, expected.message)
        );
        assert_eq!(host.count(), 1);
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn a_success_that_is_not_json_is_a_decode_error() {
    for text in [r#"{\"id\":"#, "", "<html>"] {
        let host = FakeHost::new([format!(
            r#"{{"status":200,"headers":{{"x-request-id":"r-3"}},"text":"{text}"}}"#
        )]);
        let result = get_job(&host.client()).await;
        let Err(Error::Decode { error, request_id }) = result else {
            panic!("{text}: {result:?}");
        };
        assert_eq!(error.at, "");
        assert!(error.to_string().starts_with("body "), "{error}");
        assert_eq!(request_id.as_deref(), Some("r-3"));
        assert_eq!(host.count(), 1, "a success is not retried");
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn a_success_of_the_wrong_type_is_a_decode_error_with_its_path() {
    for (response, path, reason) in [
        ("null", "", "must be an object, found null"),
        ("[]", "", "must be an object, found an array"),
        (r#"{"id":7}"#, "id", "must be text, found a number"),
        (
            r#"{"source":{"ref":true}}"#,
            "source.ref",
            "must be text, found a boolean",
        ),
    ] {
        let host = FakeHost::new([json_response(response)]);
        let result = get_job(&host.client()).await;
        assert_decode_error(result, path, reason);
        assert_eq!(host.count(), 1, "a success is not retried");
        host.assert_idle();
    }
    for (response, path, reason) in [
        ("{}", "totals", "must be an object, found nothing"),
        (
            r#"{"totals":{},"views":{},"hasMore":false}"#,
            "views",
            "must be an array, found an object",
        ),
        (
            r#"{"totals":{},"views":[{"human":1},{"human":-1}],"hasMore":false}"#,
            "views[1].human",
            "must be an integer from 0 to 9007199254740991, found a number",
        ),
        (
            r#"{"totals":{"ai":"9"},"views":[],"hasMore":false}"#,
            "totals.ai",
            "must be an integer from 0 to 9007199254740991, found text",
        ),
        (
            r#"{"totals":{},"views":[],"hasMore":"no"}"#,
            "hasMore",
            "must be true or false, found text",
        ),
    ] {
        let host = FakeHost::new([json_response(response)]);
        let list = host.client().analytics().views(ListPageViews::default());
        assert_decode_error(list.await, path, reason);
        assert_eq!(host.count(), 1, "a success is not retried");
        host.assert_idle();
    }
}

fn json_response(json: &str) -> String {
    format!(r#"{{"status":200,"headers":{{"x-request-id":"r-3"}},"json":{json}}}"#)
}

#[track_caller]
fn assert_decode_error<T: std::fmt::Debug>(result: Result<T, Error>, path: &str, reason: &str) {
    let Err(Error::Decode { error, request_id }) = result else {
        panic!("{path} {reason}: {result:?}");
    };
    assert_eq!((error.at.as_str(), error.what.as_str()), (path, reason));
    assert_eq!(request_id.as_deref(), Some("r-3"));
    let subject = if path.is_empty() { "body" } else { path };
    assert_eq!(error.to_string(), format!("{subject} {reason}"));
}

#[wasm_bindgen_test]
async fn a_broken_connection_keeps_the_error_of_the_host() {
    for (response, text) in [
        (
            r#"{"broken":"connection reset"}"#,
            "TypeError: connection reset",
        ),
        (
            r#"{"thrown":"no fetch today"}"#,
            "RangeError: no fetch today",
        ),
    ] {
        let host = FakeHost::new([response]);
        let error = get_job(&host.client())
            .with_options(ONCE)
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "no answer: the connection failed or broke"
        );
        assert_eq!(error.source().unwrap().to_string(), text);
        let Error::Connection(cause) = error else {
            panic!("{error:?}");
        };
        assert!(cause.as_js().has_type::<js_sys::Error>());
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn errors_never_contain_a_credential() {
    for response in [
        r#"{"status":401,"json":{"error":"unauthorized"}}"#,
        r#"{"status":200,"text":"<html>"}"#,
        r#"{"broken":"connection reset"}"#,
        r#"{"stall":"head"}"#,
    ] {
        for direct in [true, false] {
            let host = FakeHost::new([response]);
            let client = if direct {
                host.platform()
            } else {
                host.client()
            };
            let error = get_job(&client).with_options(ONCE).await.unwrap_err();
            assert_eq!(host.count(), 1);
            let all = format!("{error} {error:?} {:?}", error.source());
            assert!(!all.contains(KEY) && !all.contains(TOKEN), "{all}");
        }
    }
}
