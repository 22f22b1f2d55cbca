//! Failures as typed errors.

use std::error::Error as _;

use std::time::Duration;

use crate::fake_host::{FakeHost, KEY, TOKEN, get_job};
use quillgate::client::http::Method;
use quillgate::client::{Client, ClientBuilder, Error};
use quillgate::{Endpoint as _, JobStatus, ListConversations, ListPageViews, Rule};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn invalid_settings_are_rejected_before_a_request_is_sent() {
    type Set = fn(ClientBuilder, Duration) -> ClientBuilder;

    let too_long = Duration::from_millis(1 << 31);
    let cases: [(Set, Duration, &str, Rule); 4] = [
        (
            ClientBuilder::timeout,
            Duration::ZERO,
            "timeout",
            Rule::MILLISECONDS,
        ),
        (
            ClientBuilder::timeout,
            too_long,
            "timeout",
            Rule::MILLISECONDS,
        ),
        (
            ClientBuilder::total_timeout,
            Duration::from_micros(999),
            "totalTimeout",
            Rule::MILLISECONDS,
        ),
        (
            |builder, _| builder.max_retries(11),
            Duration::ZERO,
            "maxRetries",
            Rule::RETRY_COUNT,
        ),
    ];
    for (set, duration, field, rule) in cases {
        let host = FakeHost::new::<&str>([]);
        let error = set(host.builder(), duration).build().unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule), (field, rule));
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_settings_of_a_call_are_rejected_before_a_request_is_sent() {
    let host = FakeHost::new::<&str>([]);
    let client = host.client();
    let zero = Duration::ZERO;
    let errors = [
        get_job(&client).timeout(zero).send().await.err(),
        client
            .analytics()
            .views(..)
            .timeout(zero)
            .send()
            .await
            .err(),
        client
            .analytics()
            .views(..)
            .timeout(zero)
            .rows()
            .next()
            .await
            .err(),
        client
            .agent_jobs()
            .watch("j1")
            .timeout(zero)
            .wait()
            .await
            .err(),
    ];
    for error in errors {
        assert_rejected(error, "timeout", Rule::MILLISECONDS);
    }
    let error = get_job(&client).max_retries(11).send().await.err();
    assert_rejected(error, "maxRetries", Rule::RETRY_COUNT);
    assert_eq!(host.count(), 0);
    host.assert_idle();
}

#[track_caller]
fn assert_rejected(error: Option<Error>, field: &str, rule: Rule) {
    let Some(Error::Validation(error)) = error else {
        panic!("expected {field} to be rejected, found {error:?}");
    };
    assert_eq!((error.field.as_ref(), error.rule), (field, rule));
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_are_rejected_before_a_request_is_sent() {
    let host = FakeHost::new::<&str>([]);
    let client = host.client();
    let (jobs, reports) = (client.agent_jobs(), client.analytics());
    let raw = |path: &str| {
        let request = client.request(Method::GET, path).query("a", 1);
        request.body(json!({})).send::<()>()
    };
    let odd_state = jobs.list(..).state(JobStatus::Other("odd".into()));
    let in_part = json!({ "cursor": "part~0.5.6.0.0~" });
    let in_part = ListConversations::parse(&in_part).unwrap();
    let known = Rule::OneOf(&JobStatus::KNOWN);
    for (error, field, rule) in [
        (jobs.create("").send().await.err(), "prompt", Rule::NotEmpty),
        (jobs.get("..").send().await.err(), "id", Rule::NotDotSegment),
        (
            jobs.send_message("j1", "").send().await.err(),
            "prompt",
            Rule::NotEmpty,
        ),
        (jobs.watch("").next().await.err(), "id", Rule::NotEmpty),
        (jobs.record("").send().await.err(), "id", Rule::NotEmpty),
        (
            jobs.delete_record("").send().await.err(),
            "id",
            Rule::NotEmpty,
        ),
        (raw("/a/../b").await.err(), "path", Rule::RequestPath),
        (raw("/a?b").await.err(), "path", Rule::RequestPath),
        (raw("/a").await.err(), "body", Rule::Unknown),
        (odd_state.send().await.err(), "state", known),
        (
            reports.views("yesterday"..).send().await.err(),
            "dateFrom",
            Rule::DateFormat,
        ),
        (
            reports
                .daily_views("2026-02-02".."2026-02-01")
                .send()
                .await
                .err(),
            "dateFrom",
            Rule::BeforeDateTo,
        ),
        (
            reports
                .daily_views("2026-02-02".."2026-02-30")
                .send()
                .await
                .err(),
            "dateTo",
            Rule::CalendarDate,
        ),
        (
            reports.estimate_backfill("soon").send().await.err(),
            "dateFrom",
            Rule::DateFormat,
        ),
        (
            reports.begin_backfill("").send().await.err(),
            "dateFrom",
            Rule::DateFormat,
        ),
        (
            reports.conversation("t1").send().await.err(),
            "threadId",
            Rule::Ulid,
        ),
        (
            reports.conversations(in_part).send().await.err(),
            "cursor",
            Rule::Ulid,
        ),
        (
            jobs.create("p")
                .idempotency_key("two words")
                .send()
                .await
                .err(),
            "idempotencyKey",
            Rule::IdempotencyKey,
        ),
    ] {
        assert_rejected(error, field, rule);
    }
    assert_eq!(host.count(), 0);
    host.assert_idle();
}

#[test]
fn invalid_parts_of_a_client_are_rejected_without_repeating_a_credential() {
    let gateway = |url: &str, token: &str| Client::builder().gateway(url, token).project("acme");
    let platform = |url: &str, key: &str| Client::builder().platform_at(url, key).project("acme");
    let url = "https://x.example";
    let key = "mint_secret-1";
    for (builder, field, rule) in [
        (gateway("gate.example", TOKEN), "baseUrl", Rule::BaseUrl),
        (
            gateway("https://u:secret-1@x.example", TOKEN),
            "baseUrl",
            Rule::BaseUrl,
        ),
        (gateway(url, "secret-1 "), "token", Rule::Credential),
        (gateway(url, ""), "token", Rule::Credential),
        (
            platform(url, "mint_dsc_secret-1"),
            "adminKey",
            Rule::AdminKey,
        ),
        (platform(url, "secret-1"), "adminKey", Rule::AdminKey),
        (
            platform("http://x.example", key),
            "baseUrl",
            Rule::SecureBaseUrl,
        ),
        (
            gateway("http://x.example", TOKEN),
            "baseUrl",
            Rule::SecureBaseUrl,
        ),
        (platform("x.example", key), "baseUrl", Rule::BaseUrl),
        (
            gateway(url, TOKEN).project(".."),
            "projectId",
            Rule::NotDotSegment,
        ),
        (
            Client::builder().gateway(url, TOKEN),
            "projectId",
            Rule::Required,
        ),
        (Client::builder().project("acme"), "baseUrl", Rule::Required),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule), (field, rule));
        let text = format!("{error} {error:?}");
        assert!(!text.contains("secret-1"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_base_url_with_an_invalid_port_is_reported_by_name() {
    let host = FakeHost::new::<&str>([]);
    let builder = host.builder().gateway("https://gate.example:99999", TOKEN);
    let error = get_job(&builder.build().unwrap()).send().await.err();
    assert_rejected(error, "baseUrl", Rule::BaseUrl);
    host.assert_idle();
}

struct ExpectedError {
    response: &'static str,
    status: u16,
    message: &'static str,
    details: &'static [&'static str],
    code: Option<&'static str>,
    request_id: Option<&'static str>,
    retry_after: Option<Duration>,
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

#[tokio::test(start_paused = true)]
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
            retry_after: Some(Duration::from_mins(30)),
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
            message: "a redirect to https://elsewhere.example, which is not followed; if you trust it, set it as the base URL",
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
        let result = get_job(&host.client()).max_retries(0).send().await;
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

#[tokio::test(start_paused = true)]
async fn a_success_that_is_not_json_is_a_decode_error() {
    for text in [r#"{\"id\":"#, "", "<html>"] {
        let host = FakeHost::new([format!(
            r#"{{"status":200,"headers":{{"x-request-id":"r-3"}},"text":"{text}"}}"#
        )]);
        let result = get_job(&host.client()).send().await;
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

#[tokio::test(start_paused = true)]
async fn a_success_of_the_wrong_type_is_a_decode_error_with_its_path() {
    for (response, path, reason) in [
        ("null", "", "must be an object, found null"),
        ("[]", "", "must be an object, found an array"),
        (r#"{"id":7}"#, "id", "must be a string, found a number"),
        (
            r#"{"source":{"ref":true}}"#,
            "source.ref",
            "must be a string, found a boolean",
        ),
    ] {
        let host = FakeHost::new([json_response(response)]);
        let result = get_job(&host.client()).send().await;
        assert_decode_error(result, path, reason);
        assert_eq!(host.count(), 1, "a success is not retried");
        host.assert_idle();
    }
    for (response, path, reason) in [
        ("{}", "views", "must be an array, found nothing"),
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
            "must be an integer from 0 to 9007199254740991, found a string",
        ),
        (
            r#"{"totals":{},"views":[],"hasMore":"no"}"#,
            "hasMore",
            "must be true or false, found a string",
        ),
    ] {
        let host = FakeHost::new([json_response(response)]);
        let list = host.client().analytics().views(ListPageViews::default());
        assert_decode_error(list.send().await, path, reason);
        assert_eq!(host.count(), 1, "a success is not retried");
        host.assert_idle();
    }
}

fn json_response(json: &str) -> String {
    format!(r#"{{"status":200,"headers":{{"x-request-id":"r-3"}},"json":{json}}}"#)
}

#[tokio::test(start_paused = true)]
async fn a_job_other_than_the_requested_one_is_a_decode_error_and_not_retried() {
    let host = FakeHost::new([json_response(r#"{"id":"j2"}"#)]);
    let result = get_job(&host.client()).send().await;
    let reason = "must be the requested id, found another one";
    assert_decode_error(result, "id", reason);
    assert_eq!(host.count(), 1);
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

#[tokio::test(start_paused = true)]
async fn a_broken_connection_keeps_the_error_of_the_host() {
    for response in [
        r#"{"broken":"connection reset"}"#,
        r#"{"status":200,"broken_body":"connection reset"}"#,
    ] {
        let host = FakeHost::new([response]);
        let result = get_job(&host.client()).max_retries(0).send().await;
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Connection(_)));
        let text = "no answer from gate.example: the connection failed or broke";
        assert_eq!(error.to_string(), text);
        assert!(error.may_have_been_sent());
        assert_eq!(error.source().unwrap().to_string(), "connection reset");
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_with_a_response_was_sent_whatever_broke_its_body() {
    for broken in [
        "NetworkUnreachable: no route",
        "ConnectionRefused: by a proxy",
        "received fatal alert: BadRecordMac",
    ] {
        let response = format!(r#"{{"status":200,"broken_body":"{broken}"}}"#);
        let host = FakeHost::new([response.as_str()]);
        let error = get_job(&host.client()).max_retries(0).send().await;
        assert!(error.unwrap_err().may_have_been_sent(), "{broken}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_whose_body_breaks_off_is_an_api_error() {
    let host = FakeHost::new([r#"{"status":404,"broken_body":"connection reset"}"#]);
    let Err(Error::Api(error)) = get_job(&host.client()).send().await else {
        panic!("expected an API error");
    };
    assert_eq!((error.status, error.message.as_str()), (404, "not found"));
}

#[tokio::test(start_paused = true)]
async fn errors_never_contain_a_credential() {
    for response in [
        r#"{"status":401,"json":{"error":"unauthorized"}}"#,
        r#"{"status":200,"text":"<html>"}"#,
        r#"{"broken":"connection reset"}"#,
        r#"{"stall":"head"}"#,
    ] {
        for direct in [true, false] {
            let host = FakeHost::new([response]);
            let builder = if direct {
                host.platform()
            } else {
                host.builder()
            };
            let client = builder.build().unwrap();
            let error = get_job(&client).max_retries(0).send().await.unwrap_err();
            assert_eq!(host.count(), 1);
            let all = format!("{error} {error:?} {:?}", error.source());
            assert!(!all.contains(KEY) && !all.contains(TOKEN), "{all}");
        }
    }
}
