//! What is sent again, and when.

use crate::fake_host::{FakeHost, assert_json, call, get, get_job, json, part};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1"}}"#;
const BUSY: &str = r#"{"status":503,"json":{"error":"busy"}}"#;

#[wasm_bindgen_test]
async fn a_get_is_sent_again_after_growing_waits() {
    let host = FakeHost::new([BUSY, r#"{"broken":"reset"}"#, OK]);
    let answer = get_job(&host.engine(), "{}").await.unwrap();
    assert_eq!(get(&get(&answer, "data"), "id"), "j1");
    assert_eq!(host.times(), "[0,500,1500]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn the_last_failure_is_the_result() {
    let host = FakeHost::new([BUSY, BUSY, r#"{"status":502}"#]);
    let fault = get_job(&host.engine(), "{}").await.unwrap_err();
    assert_eq!(get(&fault, "status"), 502);
    assert_eq!(host.times(), "[0,500,1500]");
}

#[wasm_bindgen_test]
async fn as_many_retries_as_the_caller_says() {
    for (retries, times) in [
        (0, "[0]"),
        (1, "[0,500]"),
        (6, "[0,500,1500,3500,7500,15500,23500]"),
    ] {
        let host = FakeHost::new([BUSY; 7]);
        let options = format!(r#"{{"maxRetries":{retries}}}"#);
        let fault = get_job(&host.engine(), &options).await.unwrap_err();
        assert_eq!(get(&fault, "status"), 503);
        assert_eq!(host.times(), times);
    }
}

#[wasm_bindgen_test]
async fn a_post_is_never_sent_again() {
    for answer in [
        BUSY,
        r#"{"status":429,"headers":{"retry-after":"1"}}"#,
        r#"{"status":408}"#,
        r#"{"broken":"reset"}"#,
        r#"{"stall":"head"}"#,
        r#"{"status":201,"stall":"body"}"#,
    ] {
        for (operation, params) in [
            ("agentJobs.create", r#"{"prompt":"p"}"#),
            ("agentJobs.sendMessage", r#"{"id":"j1","prompt":"p"}"#),
        ] {
            let host = FakeHost::new([answer, OK]);
            call(
                &host.engine(),
                operation,
                params,
                &json(r#"{"maxRetries":5}"#),
            )
            .await
            .unwrap_err();
            assert_eq!(host.count(), 1, "{operation} {answer}");
            host.assert_quiet();
        }
    }
}

#[wasm_bindgen_test]
async fn what_will_not_pass_by_itself_is_not_sent_again() {
    for answer in [
        r#"{"status":400}"#,
        r#"{"status":401}"#,
        r#"{"status":404}"#,
        r#"{"status":409}"#,
        r#"{"status":304}"#,
        r#"{"status":200,"text":"{"}"#,
    ] {
        let host = FakeHost::new([answer, OK]);
        get_job(&host.engine(), "{}").await.unwrap_err();
        assert_eq!(host.count(), 1, "{answer}");
    }
    for status in [408, 429, 500, 502, 503, 504, 599] {
        let host = FakeHost::new([format!(r#"{{"status":{status}}}"#).as_str(), OK]);
        get_job(&host.engine(), "{}").await.unwrap();
        assert_eq!(host.times(), "[0,500]", "{status}");
    }
}

#[wasm_bindgen_test]
async fn retry_after_takes_the_place_of_the_usual_wait() {
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
        get_job(&host.engine(), "{}").await.unwrap();
        assert_eq!(host.times(), times, "{value}");
    }
}

#[wasm_bindgen_test]
async fn a_long_retry_after_is_the_callers_to_wait_for() {
    let host = FakeHost::new([r#"{"status":429,"headers":{"retry-after":"61"}}"#, OK]);
    let fault = get_job(&host.engine(), "{}").await.unwrap_err();
    assert_json(
        &part(&fault, &["status", "retryAfter"]),
        r#"{"status":429,"retryAfter":61}"#,
    );
    assert_eq!(host.times(), "[0]");
    assert_eq!(host.elapsed(), 0, "nothing was waited for");
}

#[wasm_bindgen_test]
async fn an_attempt_that_took_too_long_is_made_again() {
    for stall in [
        r#"{"stall":"head"}"#,
        r#"{"stall":"head","deaf":true}"#,
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":200,"stall":"body","deaf":true}"#,
    ] {
        let host = FakeHost::new([stall, OK]);
        get_job(&host.engine(), r#"{"timeout":3000}"#)
            .await
            .unwrap();
        assert_eq!(host.times(), "[0,3500]", "{stall}");
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn the_time_of_an_attempt_covers_its_body() {
    for stall in [
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":200,"stall":"body","deaf":true}"#,
        r#"{"status":500,"stall":"body","deaf":true}"#,
        r#"{"stall":"head","deaf":true}"#,
        r#"{"status":200,"after":4001,"json":{}}"#,
    ] {
        let host = FakeHost::new([stall]);
        let fault = get_job(&host.engine(), r#"{"timeout":4000,"maxRetries":0}"#)
            .await
            .unwrap_err();
        assert_json(
            &fault,
            r#"{"kind":"timeout","message":"no complete answer within 4000 ms","after":4000}"#,
        );
        assert_eq!(host.count(), 1);
        assert_eq!(host.elapsed(), 4000);
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn an_attempt_has_a_minute_unless_told() {
    let host = FakeHost::new([r#"{"stall":"head"}"#]);
    let fault = get_job(&host.engine(), r#"{"maxRetries":0}"#)
        .await
        .unwrap_err();
    assert_eq!(get(&fault, "after"), 60_000);
}

#[wasm_bindgen_test]
async fn the_total_time_covers_attempts_and_waits() {
    // The third attempt gets what is left, and there is no wait beyond the end.
    let stall = r#"{"stall":"head"}"#;
    let host = FakeHost::new([stall, stall, stall]);
    let options = r#"{"timeout":3000,"totalTimeout":8000,"maxRetries":9}"#;
    let fault = get_job(&host.engine(), options).await.unwrap_err();
    assert_eq!(host.times(), "[0,3500,7500]");
    assert_json(
        &part(&fault, &["kind", "after"]),
        r#"{"kind":"timeout","after":500}"#,
    );
    assert_eq!(host.elapsed(), 8000);

    let host = FakeHost::new([r#"{"status":503,"headers":{"retry-after":"5"}}"#, OK]);
    let fault = get_job(&host.engine(), r#"{"totalTimeout":5000}"#)
        .await
        .unwrap_err();
    assert_json(
        &part(&fault, &["kind", "status"]),
        r#"{"kind":"api","status":503}"#,
    );
    assert_eq!(host.elapsed(), 0, "a wait in vain is not begun");
}

#[wasm_bindgen_test]
async fn a_post_is_sent_again_where_its_key_makes_it_one() {
    let create = |options: &'static str| async move {
        let host = FakeHost::new([BUSY, r#"{"broken":"reset"}"#, OK]);
        let params = r#"{"prompt":"p"}"#;
        let outcome = call(&host.engine(), "agentJobs.create", params, &json(options)).await;
        (outcome.is_ok(), host)
    };
    let (done, host) = create(r#"{"deduplicated":true,"idempotencyKey":"once-1"}"#).await;
    assert!(done);
    assert_eq!(host.times(), "[0,500,1500]");
    for at in 0..3 {
        assert!(
            host.request(at, "headers")
                .contains(r#""idempotency-key":"once-1""#)
        );
    }
    for options in [
        r#"{"deduplicated":true}"#,
        r#"{"idempotencyKey":"once-1"}"#,
        r#"{"deduplicated":false,"idempotencyKey":"once-1"}"#,
    ] {
        let (done, host) = create(options).await;
        assert!(!done);
        assert_eq!(host.count(), 1, "{options}");
    }
}

const RUNNING: &str = r#"{"status":409,"headers":{"retry-after":"1"},
    "json":{"type":"/problems/idempotency-key-in-use","detail":"in use"}}"#;

/// Creates a job at a side that knows it again by its key.
async fn create(host: &FakeHost, more: &str) -> Result<JsValue, JsValue> {
    let options = format!(r#"{{"deduplicated":true,"idempotencyKey":"once-1"{more}}}"#);
    let params = r#"{"prompt":"p"}"#;
    call(&host.engine(), "agentJobs.create", params, &json(&options)).await
}

#[wasm_bindgen_test]
async fn an_attempt_that_still_runs_is_asked_after_until_it_is_done() {
    let broken = r#"{"broken":"reset"}"#;
    let answers = [broken, RUNNING, RUNNING, RUNNING, RUNNING, OK];
    let host = FakeHost::new(answers);
    let answer = create(&host, r#","maxRetries":1"#).await.unwrap();
    assert_eq!(get(&get(&answer, "data"), "id"), "j1");
    assert_eq!(host.times(), "[0,500,1500,2500,3500,4500]");
    for at in 0..6 {
        let headers = host.request(at, "headers");
        assert!(headers.contains(r#""idempotency-key":"once-1""#));
    }
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn an_attempt_that_still_runs_is_waited_for_as_long_as_an_attempt_may_take() {
    for (more, requests) in [
        (r#","timeout":3500"#, 4),
        (r#","timeout":999"#, 1),
        (r#","totalTimeout":2500"#, 3),
        (r#","maxRetries":0"#, 1),
        ("", 61),
    ] {
        let host = FakeHost::new([RUNNING; 62]);
        let fault = create(&host, more).await.unwrap_err();
        assert_json(
            &part(&fault, &["status", "code", "retryAfter"]),
            r#"{"status":409,"code":"/problems/idempotency-key-in-use","retryAfter":1}"#,
        );
        assert_eq!(host.count(), requests, "{more}");
    }
}

#[wasm_bindgen_test]
async fn what_nobody_knows_is_not_asked_for_again() {
    let unknown = r#"{"status":409,"json":{"type":"/problems/outcome-unknown"}}"#;
    let reused = r#"{"status":422,"json":{"type":"/problems/idempotency-key-reused"}}"#;
    let failed = r#"{"status":503,"headers":{"retry-after":"60"},"json":{"outcome":"unknown"}}"#;
    for answer in [unknown, reused, failed] {
        let host = FakeHost::new([BUSY, answer, OK]);
        create(&host, "").await.unwrap_err();
        assert_eq!(host.times(), "[0,500]", "{answer}");
    }
}
