//! A call that is taken back: at once, wherever it is, with the signal's own reason.

use crate::fake_host::{FakeHost, call, get_job, json, with};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1"}}"#;
const BUSY: &str = r#"{"status":503,"headers":{"retry-after":"30"}}"#;

/// Reasons of every kind; each must come back as itself.
fn reasons() -> [JsValue; 4] {
    [
        js_sys::Error::new("enough").into(),
        json(r#"{"kind":"api","message":"a look-alike"}"#),
        "text".into(),
        JsValue::NULL,
    ]
}

async fn aborted_at(ms: u32, host: &FakeHost, reason: &JsValue, params: [&str; 2]) -> JsValue {
    let [operation, params] = params;
    let options = host.signal(Some(ms), reason);
    call(&host.engine(), operation, params, &options)
        .await
        .unwrap_err()
}

const GET: [&str; 2] = ["agentJobs.get", r#"{"id":"j1"}"#];
const CREATE: [&str; 2] = ["agentJobs.create", r#"{"prompt":"p"}"#];

#[wasm_bindgen_test]
async fn before_anything_is_sent() {
    for reason in reasons() {
        for operation in [GET, CREATE] {
            let host = FakeHost::new([OK]);
            assert_eq!(aborted_at(0, &host, &reason, operation).await, reason);
            assert_eq!(host.count(), 0);
            host.assert_quiet();
        }
    }
}

#[wasm_bindgen_test]
async fn while_the_request_is_on_its_way() {
    for reason in reasons() {
        for answer in [r#"{"stall":"head"}"#, r#"{"stall":"head","deaf":true}"#] {
            for operation in [GET, CREATE] {
                let host = FakeHost::new([answer, OK]);
                assert_eq!(aborted_at(250, &host, &reason, operation).await, reason);
                assert_eq!(host.elapsed(), 250);
                assert_eq!(host.count(), 1, "not sent again");
                host.assert_quiet();
            }
        }
    }
}

#[wasm_bindgen_test]
async fn while_the_body_is_coming() {
    for reason in reasons() {
        for answer in [
            r#"{"status":200,"stall":"body"}"#,
            r#"{"status":200,"stall":"body","deaf":true}"#,
            r#"{"status":500,"stall":"body","deaf":true}"#,
        ] {
            let host = FakeHost::new([answer, OK]);
            assert_eq!(aborted_at(250, &host, &reason, GET).await, reason);
            assert_eq!(host.elapsed(), 250);
            assert_eq!(host.count(), 1, "not sent again");
            host.assert_quiet();
        }
    }
}

#[wasm_bindgen_test]
async fn in_the_wait_before_another_attempt() {
    for reason in reasons() {
        let host = FakeHost::new([BUSY, OK]);
        assert_eq!(aborted_at(250, &host, &reason, GET).await, reason);
        assert_eq!(host.elapsed(), 250);
        assert_eq!(host.count(), 1, "not sent again");
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn while_an_earlier_attempt_has_already_failed() {
    let host = FakeHost::new([r#"{"status":503}"#, r#"{"stall":"head"}"#, OK]);
    let reason = JsValue::from("in the second attempt");
    assert_eq!(aborted_at(900, &host, &reason, GET).await, reason);
    assert_eq!(host.times(), "[0,500]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn without_a_reason_it_is_the_hosts_own_abort_error() {
    let host = FakeHost::new([r#"{"stall":"head"}"#]);
    let error = aborted_at(10, &host, &JsValue::UNDEFINED, GET).await;
    let error: js_sys::Error = error.into();
    assert_eq!(error.name(), "AbortError");
}

#[wasm_bindgen_test]
async fn a_signal_that_does_not_abort_changes_nothing_and_is_let_go_of() {
    let host = FakeHost::new([BUSY, OK]);
    let options = host.signal(None, &JsValue::UNDEFINED);
    let options = with(&options, "maxRetries", &1.into());
    call(&host.engine(), GET[0], GET[1], &options)
        .await
        .unwrap();
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn calls_side_by_side_are_taken_back_one_by_one() {
    let host = FakeHost::new([
        r#"{"stall":"head"}"#,
        r#"{"status":200,"after":900,"json":{"id":"j2"}}"#,
    ]);
    let engine = host.engine();
    let options = host.signal(Some(300), &"only this one".into());
    let taken_back = JsFuture::from(engine.call(GET[0], json(GET[1]), options).unwrap());
    let kept = get_job(&engine, "{}").await;
    assert!(kept.is_ok());
    let error = taken_back.await.unwrap_err();
    assert_eq!(error, "only this one");
    host.assert_quiet();
}
