use crate::fake_host::{FakeHost, create, get_job, json};
use crate::signal;
use quillgate::Error;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1"}}"#;
const BUSY: &str = r#"{"status":503,"headers":{"retry-after":"30"}}"#;

/// Abort reasons: an error, an object, a string and `null`. Each must be returned unchanged.
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

async fn abort_after(ms: u32, host: &FakeHost, reason: &JsValue, operation: Operation) -> JsValue {
    let signal = host.signal(Some(ms), reason);
    let result: Result<(), Error> = match operation {
        Operation::Get => signal::read_job(&host.client(), "j1", signal)
            .await
            .map(drop),
        Operation::Create => create(&host.client()).signal(signal).send().await.map(drop),
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
async fn an_already_aborted_signal_sends_nothing() {
    for reason in reasons() {
        for operation in BOTH {
            let host = FakeHost::new([OK]);
            assert_eq!(abort_after(0, &host, &reason, operation).await, reason);
            assert_eq!(host.count(), 0);
            host.assert_idle();
        }
    }
}

#[wasm_bindgen_test]
async fn aborting_before_the_response_arrives_ends_the_call() {
    for reason in reasons() {
        for response in [r#"{"stall":"head"}"#, r#"{"stall":"head","deaf":true}"#] {
            for operation in BOTH {
                let host = FakeHost::new([response, OK]);
                assert_eq!(abort_after(250, &host, &reason, operation).await, reason);
                assert_eq!(host.elapsed(), 250);
                assert_eq!(host.count(), 1, "not sent again");
                host.assert_idle();
            }
        }
    }
}

#[wasm_bindgen_test]
async fn aborting_while_the_body_is_read_ends_the_call() {
    for reason in reasons() {
        for response in [
            r#"{"status":200,"stall":"body"}"#,
            r#"{"status":200,"stall":"body","deaf":true}"#,
            r#"{"status":500,"stall":"body","deaf":true}"#,
        ] {
            let host = FakeHost::new([response, OK]);
            let aborted = abort_after(250, &host, &reason, Operation::Get).await;
            assert_eq!(aborted, reason);
            assert_eq!(host.elapsed(), 250);
            assert_eq!(host.count(), 1, "not sent again");
            host.assert_idle();
        }
    }
}

#[wasm_bindgen_test]
async fn a_signal_that_never_aborts_has_no_effect_and_is_released() {
    let host = FakeHost::new([BUSY, OK]);
    let signal = host.signal(None, &JsValue::UNDEFINED);
    let call = get_job(&host.client()).signal(signal);
    call.send().await.unwrap();
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn the_signal_of_a_client_aborts_each_of_its_calls() {
    let host = FakeHost::new([r#"{"stall":"head"}"#, OK]);
    let signal = host.signal(Some(40), &"left".into());
    let client = host.builder().signal(signal).build().unwrap();
    assert_eq!(reason_of(get_job(&client).send().await), "left");
    assert_eq!(reason_of(create(&client).send().await), "left");
    assert_eq!(host.count(), 1, "the second is not sent");
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn aborting_a_watch_ends_its_wait_or_its_poll() {
    let active = r#"{"status":200,"json":{"status":"active"}}"#;
    for (poll, ms) in [
        (active, 1_200),
        (r#"{"stall":"head","deaf":true}"#, 3_600),
        (r#"{"status":200,"stall":"body","deaf":true}"#, 3_600),
    ] {
        let host = FakeHost::new([r#"{"status":404}"#, active, poll]);
        let signal = host.signal(Some(ms), &"seen enough".into());
        let mut watch = host.client().agent_jobs().watch("j1").signal(signal);
        watch.next().await.unwrap();
        assert_eq!(reason_of(watch.next().await), "seen enough");
        assert_eq!(host.elapsed(), ms);
        host.assert_idle();
    }
}
