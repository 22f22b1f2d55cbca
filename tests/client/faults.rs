use std::error::Error as _;

use std::time::Duration;

use crate::fake_host::{FakeHost, KEY, TOKEN, get_job};
use quillgate::client::http::Method;
use quillgate::client::{Client, Error};
use quillgate::{Endpoint as _, JobStatus, ListConversations};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn invalid_settings_are_rejected_before_a_request_is_sent() {
    let too_long = Duration::from_millis(1 << 31);
    let host = FakeHost::new::<&str>([]);
    let too_short = host.builder().total_timeout(Duration::from_micros(999));
    let too_many = host.builder().max_retries(11);
    for (builder, field, rule) in [
        (host.builder().timeout(too_long), "timeout", "milliseconds"),
        (too_short, "totalTimeout", "milliseconds"),
        (too_many, "maxRetries", "retry-count"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule.name()), (field, rule));
    }
    let client = host.client();
    let zero = Duration::ZERO;
    let views = || client.analytics().views(..).timeout(zero);
    let watch = client.agent_jobs().watch("j1").timeout(zero);
    for error in [
        get_job(&client).timeout(zero).send().await.err(),
        views().send().await.err(),
        views().rows().next().await.err(),
        watch.wait().await.err(),
    ] {
        assert_rejected(error, "timeout", "milliseconds");
    }
    let watch = client.agent_jobs().watch("j1").watch_timeout(zero);
    assert_rejected(watch.wait().await.err(), "watchTimeout", "milliseconds");
    host.assert_idle();
}

#[track_caller]
fn assert_rejected(error: Option<Error>, field: &str, rule: &str) {
    let Some(Error::Validation(error)) = error else {
        panic!("expected {field} to be rejected, found {error:?}");
    };
    assert_eq!((error.field.as_ref(), error.rule.name()), (field, rule));
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
    let keyed = jobs.create("p").idempotency_key("two words").send();
    let preview = client.previews().create("").send();
    let automation = client.automations().run("..").send();
    let deployment = client.deployments().watch("");
    let odd_state = jobs.list(..).state(JobStatus::Other("odd".into()));
    let in_part = json!({ "cursor": "part~0.5.6.0.0~" });
    let in_part = reports.conversations(ListConversations::parse(&in_part).unwrap());
    let reversed = reports.daily_views("2026-02-02".."2026-02-01");
    for (error, field, rule) in [
        (jobs.create("").send().await.err(), "prompt", "not-empty"),
        (jobs.get("..").send().await.err(), "id", "not-dot-segment"),
        (jobs.watch("").next().await.err(), "id", "not-empty"),
        (jobs.record("").send().await.err(), "id", "not-empty"),
        (preview.await.err(), "branch", "not-empty"),
        (
            automation.await.err(),
            "workflowSchemaId",
            "not-dot-segment",
        ),
        (deployment.wait().await.err(), "statusId", "not-empty"),
        (keyed.await.err(), "idempotencyKey", "idempotency-key"),
        (odd_state.send().await.err(), "state", "one-of"),
        (raw("/a/../b").await.err(), "path", "request-path"),
        (raw("/a?b").await.err(), "path", "request-path"),
        (raw("/a").await.err(), "body", "unknown"),
        (reversed.send().await.err(), "dateFrom", "before-date-to"),
        (in_part.send().await.err(), "cursor", "ulid"),
    ] {
        assert_rejected(error, field, rule);
    }
    host.assert_idle();
}

#[test]
fn invalid_parts_of_a_client_are_rejected_without_repeating_a_credential() {
    let gateway = |url: &str, token: &str| Client::builder().gateway(url, token).project("acme");
    let platform = |url: &str, key: &str| Client::builder().platform_at(url, key).project("acme");
    let (url, plain) = ("https://x.example", "http://x.example");
    let with_user = "https://u:secret-1@x.example";
    let (no_project, key) = (Client::builder().gateway(url, TOKEN), "mint_secret-1");
    let bad_project = gateway(url, TOKEN).project("..");
    for (builder, field, rule) in [
        (gateway("gate.example", TOKEN), "baseUrl", "base-url"),
        (gateway(with_user, TOKEN), "baseUrl", "base-url"),
        (gateway(plain, TOKEN), "baseUrl", "secure-base-url"),
        (platform(plain, key), "baseUrl", "secure-base-url"),
        (gateway(url, "secret-1 "), "token", "credential"),
        (gateway(url, ""), "token", "credential"),
        (platform(url, "mint_dsc_secret-1"), "adminKey", "admin-key"),
        (bad_project, "projectId", "not-dot-segment"),
        (no_project, "projectId", "required"),
        (Client::builder().project("acme"), "baseUrl", "required"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule.name()), (field, rule));
        let text = format!("{error} {error:?}");
        assert!(!text.contains("secret-1"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_base_url_with_an_invalid_port_is_reported_by_name() {
    let host = FakeHost::new::<&str>([]);
    let builder = host.builder().gateway("https://gate.example:99999", TOKEN);
    let error = get_job(&builder.build().unwrap()).send().await.err();
    assert_rejected(error, "baseUrl", "base-url");
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_success_that_cannot_be_decoded_is_an_error_with_its_path() {
    let odd = r#"{"source":{"ref":true}}"#;
    for (json, path, reason) in [
        ("[]", "", "must be an object, found an array"),
        (odd, "source.ref", "must be a string, found a boolean"),
    ] {
        let host = FakeHost::new([json_response(json)]);
        let result = get_job(&host.client()).send().await;
        assert_decode_error(result, path, reason);
        assert_eq!(host.count(), 1, "a success is not retried: {json}");
        host.assert_idle();
    }
    let host = FakeHost::new([r#"{"status":200,"text":"<html>"}"#]);
    let error = get_job(&host.client()).send().await.unwrap_err();
    assert!(matches!(error, Error::Decode { .. }), "{error:?}");
    assert_eq!(host.count(), 1, "a success is not retried");
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

#[tokio::test(start_paused = true)]
async fn a_broken_connection_keeps_the_error_of_the_host() {
    for response in [
        r#"{"broken":"connection reset"}"#,
        r#"{"status":200,"broken_body":"connection reset"}"#,
    ] {
        let host = FakeHost::new([response]);
        let result = get_job(&host.client()).max_retries(0).send().await;
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Connection(_)), "{response:?}");
        let text = "no answer from gate.example: the connection failed or broke";
        assert_eq!(error.to_string(), text, "{response:?}");
        assert!(error.may_have_been_sent(), "{response:?}");
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
async fn errors_never_contain_a_credential() {
    // The test replaces CREDENTIAL by the credential, and ESCAPED by its JSON with an escaped character.
    for response in [
        r#"{"status":401,"json":{"error":"unauthorized"}}"#,
        r#"{"status":401,"json":{"error":"bad token CREDENTIAL"}}"#,
        r#"{"status":401,"text":"{\"error\":{\"message\":\"ESCAPED\"}}"}"#,
        r#"{"status":400,"json":{"type":"CREDENTIAL","errors":[{"detail":"CREDENTIAL"}]}}"#,
        r#"{"status":504,"json":{"outcome":"unknown","detail":"CREDENTIAL"}}"#,
        r#"{"status":307,"headers":{"location":"/CREDENTIAL"}}"#,
        r#"{"status":403,"headers":{"cf-mitigated":"x","cf-ray":"CREDENTIAL"},"text":""}"#,
        r#"{"status":500,"headers":{"x-request-id":"CREDENTIAL"},"text":""}"#,
        r#"{"status":200,"headers":{"x-request-id":"CREDENTIAL"},"text":"CREDENTIAL"}"#,
        r#"{"status":200,"text":"<html>"}"#,
        r#"{"broken":"connection reset"}"#,
        r#"{"stall":"head"}"#,
    ] {
        for (builder, credential) in [
            (FakeHost::platform as fn(&FakeHost) -> _, KEY),
            (FakeHost::builder, TOKEN),
        ] {
            let escaped = format!(r"\\u{:04x}{}", credential.as_bytes()[0], &credential[1..]);
            let response = response.replace("CREDENTIAL", credential);
            let response = response.replace("ESCAPED", &escaped);
            let host = FakeHost::new([response.as_str()]);
            let client = builder(&host).build().unwrap();
            let error = get_job(&client).max_retries(0).send().await.unwrap_err();
            assert_eq!(host.count(), 1);
            let all = format!("{error} {error:?} {:?}", error.source());
            assert!(!all.contains(KEY) && !all.contains(TOKEN), "{all}");
        }
    }
}
