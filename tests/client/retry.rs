//! Whether and when requests are retried.

use crate::fake_host::{FakeHost, ONCE, create, get_job};
use quillgate::client::{Client, Error, IdempotencyKey};
use quillgate::{AgentJob, ApiError, CallOptions, JobId, Millis, Prompt, SendMessage};
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1"}}"#;
const BUSY: &str = r#"{"status":503,"json":{"error":"busy"}}"#;

fn retries(max_retries: u32) -> CallOptions {
    CallOptions {
        max_retries,
        ..CallOptions::default()
    }
}

#[track_caller]
fn api<T: std::fmt::Debug>(result: Result<T, Error>) -> ApiError {
    match result {
        Err(Error::Api(error)) => *error,
        other => panic!("expected an API error, found {other:?}"),
    }
}

#[wasm_bindgen_test]
async fn a_get_is_retried_after_growing_delays() {
    let host = FakeHost::new([BUSY, r#"{"broken":"reset"}"#, OK]);
    let job = get_job(&host.client()).await.unwrap();
    assert_eq!(job.id.as_deref(), Some("j1"));
    assert_eq!(host.times(), "[0,500,1500]");
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn the_last_failure_is_the_result() {
    let host = FakeHost::new([BUSY, BUSY, r#"{"status":502}"#]);
    assert_eq!(api(get_job(&host.client()).await).status, 502);
    assert_eq!(host.times(), "[0,500,1500]");
}

#[wasm_bindgen_test]
async fn max_retries_limits_the_number_of_retries() {
    for (number, times) in [
        (0, "[0]"),
        (1, "[0,500]"),
        (6, "[0,500,1500,3500,7500,15500,23500]"),
    ] {
        let host = FakeHost::new([BUSY; 7]);
        let call = get_job(&host.client()).with_options(retries(number));
        assert_eq!(api(call.await).status, 503);
        assert_eq!(host.times(), times);
        let host = FakeHost::new([BUSY; 7]);
        let client = host.client().with_options(retries(number));
        assert_eq!(api(get_job(&client).await).status, 503);
        assert_eq!(host.times(), times, "also with the client's options");
    }
}

#[wasm_bindgen_test]
async fn a_post_to_the_platform_is_never_retried() {
    for response in [
        BUSY,
        r#"{"status":429,"headers":{"retry-after":"1"}}"#,
        r#"{"status":408}"#,
        r#"{"broken":"reset"}"#,
        r#"{"stall":"head"}"#,
        r#"{"status":201,"stall":"body"}"#,
    ] {
        let key = IdempotencyKey::new("once-1").unwrap();
        let host = FakeHost::new([response, OK]);
        let client = host.platform().with_options(retries(5));
        create(&client).await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}");
        host.assert_idle();

        let host = FakeHost::new([response, OK]);
        let client = host.platform().with_options(retries(5));
        let call = create(&client).with_idempotency_key(key.clone());
        call.await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}: nor with a key");

        let host = FakeHost::new([response, OK]);
        let client = host.platform().with_options(retries(5));
        send_message(&client).await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}: nor a message");
        host.assert_idle();

        let host = FakeHost::new([response, OK]);
        let options = CallOptions {
            is_deduplicated: true,
            ..retries(5)
        };
        let call = create(&host.platform()).with_options(options);
        call.with_idempotency_key(key).await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}: nor with is_deduplicated");
    }
}

async fn send_message(client: &Client) -> Result<AgentJob, Error> {
    let message = SendMessage::new(JobId::new("j1").unwrap(), Prompt::new("p").unwrap());
    client.agent_jobs().send_message(message).await
}

#[wasm_bindgen_test]
async fn only_transient_failures_are_retried() {
    for response in [
        r#"{"status":400}"#,
        r#"{"status":401}"#,
        r#"{"status":404}"#,
        r#"{"status":409}"#,
        r#"{"status":304}"#,
        r#"{"status":200,"text":"{"}"#,
    ] {
        let host = FakeHost::new([response, OK]);
        get_job(&host.client()).await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}");
    }
    for status in [408, 429, 500, 502, 503, 504, 599] {
        let host = FakeHost::new([format!(r#"{{"status":{status}}}"#).as_str(), OK]);
        get_job(&host.client()).await.unwrap();
        assert_eq!(host.times(), "[0,500]", "{status}");
    }
}

#[wasm_bindgen_test]
async fn retry_after_replaces_the_default_delay() {
    for (value, times) in [
        ("7", "[0,7000]"),
        ("0", "[0,0]"),
        ("Mon, 01 Jan 2024 00:00:09 GMT", "[0,9000]"),
        ("Sunday, 31-Dec-23 23:59:59 GMT", "[0,0]"),
        ("60", "[0,60000]"),
        ("soon", "[0,500]"),
    ] {
        let busy = format!(r#"{{"status":429,"headers":{{"retry-after":"{value}"}}}}"#);
        let host = FakeHost::new([busy.as_str(), OK]);
        get_job(&host.client()).await.unwrap();
        assert_eq!(host.times(), times, "{value}");
    }
}

#[wasm_bindgen_test]
async fn a_retry_after_over_a_minute_is_not_retried() {
    let host = FakeHost::new([r#"{"status":429,"headers":{"retry-after":"61"}}"#, OK]);
    let error = api(get_job(&host.client()).await);
    assert_eq!(error.status, 429);
    assert_eq!(error.retry_after, Some(Millis(61_000)));
    assert_eq!(host.times(), "[0]");
    assert_eq!(host.elapsed(), 0, "there is no delay");
}

#[wasm_bindgen_test]
async fn an_attempt_that_timed_out_is_retried() {
    for stall in [
        r#"{"stall":"head"}"#,
        r#"{"stall":"head","deaf":true}"#,
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":200,"stall":"body","deaf":true}"#,
    ] {
        let host = FakeHost::new([stall, OK]);
        let options = CallOptions {
            timeout: Millis(3000),
            ..CallOptions::default()
        };
        let call = get_job(&host.client()).with_options(options);
        call.await.unwrap();
        assert_eq!(host.times(), "[0,3500]", "{stall}");
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn the_timeout_of_an_attempt_includes_its_body() {
    for stall in [
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":200,"stall":"body","deaf":true}"#,
        r#"{"status":500,"stall":"body","deaf":true}"#,
        r#"{"stall":"head","deaf":true}"#,
        r#"{"status":200,"after":4001,"json":{}}"#,
    ] {
        let host = FakeHost::new([stall]);
        let options = CallOptions {
            timeout: Millis(4000),
            ..ONCE
        };
        let call = get_job(&host.client()).with_options(options);
        let error = call.await.unwrap_err();
        assert_eq!(error, Error::Timeout(Millis(4000)));
        assert_eq!(error.to_string(), "no complete answer within 4000 ms");
        assert_eq!(host.count(), 1);
        assert_eq!(host.elapsed(), 4000);
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn the_default_timeout_of_an_attempt_is_a_minute() {
    let host = FakeHost::new([r#"{"stall":"head"}"#]);
    let call = get_job(&host.client()).with_options(retries(0));
    assert_eq!(call.await, Err(Error::Timeout(Millis(60_000))));
}

#[wasm_bindgen_test]
async fn the_total_timeout_includes_attempts_and_delays() {
    // The third attempt gets the rest of the total timeout, and no delay follows.
    let stall = r#"{"stall":"head"}"#;
    let host = FakeHost::new([stall, stall, stall]);
    let options = CallOptions {
        timeout: Millis(3000),
        total_timeout: Some(Millis(8000)),
        ..retries(9)
    };
    let call = get_job(&host.client()).with_options(options);
    assert_eq!(call.await, Err(Error::Timeout(Millis(500))));
    assert_eq!(host.times(), "[0,3500,7500]");
    assert_eq!(host.elapsed(), 8000);

    let host = FakeHost::new([r#"{"status":503,"headers":{"retry-after":"5"}}"#, OK]);
    let options = CallOptions {
        total_timeout: Some(Millis(5000)),
        ..CallOptions::default()
    };
    let call = get_job(&host.client()).with_options(options);
    assert_eq!(api(call.await).status, 503);
    assert_eq!(
        host.elapsed(),
        0,
        "a delay beyond the total timeout is not started"
    );
}

#[wasm_bindgen_test]
async fn a_post_to_a_gateway_is_retried_with_the_same_idempotency_key() {
    let host = FakeHost::new([BUSY, r#"{"broken":"reset"}"#, OK]);
    create(&host.client()).await.unwrap();
    assert_eq!(host.times(), "[0,500,1500]");
    let headers = host.request(0, "headers");
    assert!(headers.contains("idempotency-key"));
    for at in 1..3 {
        assert_eq!(host.request(at, "headers"), headers, "the same key");
    }

    let host = FakeHost::new([BUSY, OK]);
    let call = create(&host.client()).with_options(retries(0));
    call.await.unwrap_err();
    assert_eq!(host.count(), 1);
}

const RUNNING: &str = r#"{"status":409,"headers":{"retry-after":"1"},
    "json":{"type":"/problems/idempotency-key-in-use","detail":"in use"}}"#;

/// Creates a job at a gateway with an idempotency key.
async fn create_once(host: &FakeHost, options: CallOptions) -> Result<AgentJob, Error> {
    let key = IdempotencyKey::new("once-1").unwrap();
    let call = create(&host.client()).with_options(options);
    call.with_idempotency_key(key).await
}

#[wasm_bindgen_test]
async fn a_running_request_is_polled_until_it_finishes() {
    let broken = r#"{"broken":"reset"}"#;
    let responses = [broken, RUNNING, RUNNING, RUNNING, RUNNING, OK];
    let host = FakeHost::new(responses);
    let job = create_once(&host, retries(1)).await.unwrap();
    assert_eq!(job.id.as_deref(), Some("j1"));
    assert_eq!(host.times(), "[0,500,1500,2500,3500,4500]");
    for at in 0..6 {
        let headers = host.request(at, "headers");
        assert!(headers.contains(r#""idempotency-key":"once-1""#));
    }
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_running_request_is_polled_for_as_long_as_the_timeout_of_an_attempt() {
    let within = |timeout| CallOptions {
        timeout: Millis(timeout),
        ..CallOptions::default()
    };
    let in_total = CallOptions {
        total_timeout: Some(Millis(2500)),
        ..CallOptions::default()
    };
    for (options, requests) in [
        (within(3500), 4),
        (within(999), 1),
        (in_total, 3),
        (retries(0), 1),
        (CallOptions::default(), 61),
    ] {
        let host = FakeHost::new([RUNNING; 62]);
        let error = api(create_once(&host, options).await);
        assert_eq!(error.status, 409);
        assert_eq!(
            error.code.as_deref(),
            Some("/problems/idempotency-key-in-use")
        );
        assert_eq!(error.retry_after, Some(Millis(1000)));
        assert_eq!(host.count(), requests, "{options:?}");
    }
}

#[wasm_bindgen_test]
async fn a_request_with_an_unknown_outcome_is_not_retried() {
    let unknown = r#"{"status":409,"json":{"type":"/problems/outcome-unknown"}}"#;
    let reused = r#"{"status":422,"json":{"type":"/problems/idempotency-key-reused"}}"#;
    let failed = r#"{"status":503,"headers":{"retry-after":"60"},"json":{"outcome":"unknown"}}"#;
    for response in [unknown, reused, failed] {
        let host = FakeHost::new([BUSY, response, OK]);
        let result = create_once(&host, CallOptions::default()).await;
        result.unwrap_err();
        assert_eq!(host.times(), "[0,500]", "{response}");
    }
}
