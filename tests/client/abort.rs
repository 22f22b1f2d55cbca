//! A call that is aborted: at once, wherever it is, with the signal's own reason.

use std::future::IntoFuture;

use crate::fake_host::{FakeHost, create, get_job, json};
use futures_util::future::join;
use quillgate::client::{Client, Error};
use quillgate::{AgentJob, CallOptions};
use wasm_bindgen::JsValue;
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

#[derive(Clone, Copy)]
enum Operation {
    Get,
    Create,
}

const BOTH: [Operation; 2] = [Operation::Get, Operation::Create];

async fn aborted_at(ms: u32, host: &FakeHost, reason: &JsValue, operation: Operation) -> JsValue {
    let signal = host.signal(Some(ms), reason);
    let result: Result<AgentJob, Error> = match operation {
        Operation::Get => get_job(&host.client()).with_signal(signal).await,
        Operation::Create => create(&host.client()).with_signal(signal).await,
    };
    reason_of(result)
}

#[track_caller]
fn reason_of<T: std::fmt::Debug>(result: Result<T, Error>) -> JsValue {
    match result {
        Err(Error::Aborted(reason)) => reason.as_js().clone(),
        other => panic!("not aborted: {other:?}"),
    }
}

#[wasm_bindgen_test]
async fn before_anything_is_sent() {
    for reason in reasons() {
        for operation in BOTH {
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
            for operation in BOTH {
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
            let aborted = aborted_at(250, &host, &reason, Operation::Get).await;
            assert_eq!(aborted, reason);
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
        let aborted = aborted_at(250, &host, &reason, Operation::Get).await;
        assert_eq!(aborted, reason);
        assert_eq!(host.elapsed(), 250);
        assert_eq!(host.count(), 1, "not sent again");
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn while_an_earlier_attempt_has_already_failed() {
    let host = FakeHost::new([r#"{"status":503}"#, r#"{"stall":"head"}"#, OK]);
    let reason = JsValue::from("in the second attempt");
    let aborted = aborted_at(900, &host, &reason, Operation::Get).await;
    assert_eq!(aborted, reason);
    assert_eq!(host.times(), "[0,500]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn without_a_reason_it_is_the_hosts_own_abort_error() {
    let host = FakeHost::new([r#"{"stall":"head"}"#]);
    let error = aborted_at(10, &host, &JsValue::UNDEFINED, Operation::Get).await;
    let error: js_sys::Error = error.into();
    assert_eq!(error.name(), "AbortError");
}

#[wasm_bindgen_test]
async fn a_signal_that_does_not_abort_changes_nothing_and_is_let_go_of() {
    let host = FakeHost::new([BUSY, OK]);
    let options = CallOptions {
        max_retries: 1,
        ..CallOptions::default()
    };
    let signal = host.signal(None, &JsValue::UNDEFINED);
    let call = get_job(&host.client()).with_options(options);
    call.with_signal(signal).await.unwrap();
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn calls_side_by_side_are_aborted_one_by_one() {
    let host = FakeHost::new([
        r#"{"stall":"head"}"#,
        r#"{"status":200,"after":900,"json":{"id":"j2"}}"#,
    ]);
    let client = host.client();
    let signal = host.signal(Some(300), &"only this one".into());
    let aborted = get_job(&client).with_signal(signal).into_future();
    let (aborted, kept) = join(aborted, get_job(&client).into_future()).await;
    assert_eq!(kept.unwrap().id.as_deref(), Some("j2"));
    assert_eq!(reason_of(aborted), "only this one");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn a_clients_own_signal_aborts_each_of_its_calls() {
    let host = FakeHost::new([r#"{"stall":"head"}"#, OK]);
    let signal = host.signal(Some(40), &"left".into());
    let client: Client = host.client().with_signal(signal);
    assert_eq!(reason_of(get_job(&client).await), "left");
    assert_eq!(reason_of(create(&client).await), "left");
    assert_eq!(host.count(), 1, "the second is not sent");
    host.assert_quiet();
}
