use std::error::Error as _;

use crate::fake_host::{FakeHost, TOKEN, assert_json, create, get_job, sorted_json};
use crate::with_fetch::through;
use js_sys::{Array, Object, Reflect};
use quillgate::client::ConnectionFailureReason;
use quillgate::{Client, Error};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;

#[wasm_bindgen_test]
async fn a_get_has_no_body_and_follows_no_redirect() {
    let host = FakeHost::new([OK]);
    let job = get_job(&host.client()).send().await.unwrap();
    assert_eq!(job.id.as_deref(), Some("j1"));
    assert_json(
        &host.requests(),
        &format!(
            r#"[{{
                "method": "GET",
                "url": "https://gate.example/v2/agent/acme/job/j1",
                "headers": {{ "accept": "application/json", "authorization": "Bearer {TOKEN}" }},
                "redirect": "manual",
                "body": null,
                "at": 0
            }}]"#
        ),
    );
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_post_has_a_json_body_and_a_fresh_idempotency_key() {
    let host = FakeHost::new([OK, OK]);
    let mut keys = Vec::new();
    for at in 0..2 {
        create(&host.client()).send().await.unwrap();
        let request = sorted_json(&Array::from(&host.requests()).get(at));
        for part in [
            r#""method":"POST""#,
            r#""body":"{\"prompt\":\"p\"}""#,
            r#""content-type":"application/json""#,
        ] {
            assert!(request.contains(part), "{request}");
        }
        let (_, rest) = request.split_once(r#""idempotency-key":""#).unwrap();
        keys.push(rest.split('"').next().unwrap().to_owned());
    }
    assert_ne!(keys[0], keys[1]);
}

#[wasm_bindgen_test]
async fn a_transient_failure_is_retried_and_a_timeout_ends_the_call() {
    let host = FakeHost::new([r#"{"status":503}"#, OK]);
    get_job(&host.client()).send().await.unwrap();
    assert_eq!(host.count(), 2);

    let host = FakeHost::new([r#"{"status":200,"stall":"body","deaf":true}"#]);
    let timeout = std::time::Duration::from_secs(4);
    let call = get_job(&host.client()).timeout(timeout).max_retries(0);
    assert_eq!(call.send().await, Err(Error::Timeout(timeout)));
    assert_eq!(host.elapsed(), 4000);
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_broken_connection_keeps_the_thrown_value() {
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
        let result = get_job(&host.client()).max_retries(0).send().await;
        let error = result.unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), text);
        let Error::Connection(failure) = error else {
            panic!("{error:?}");
        };
        assert_eq!(failure.reason, ConnectionFailureReason::Interrupted);
        assert!(failure.cause.as_js().has_type::<js_sys::Error>());
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn a_code_of_node_tells_why_a_connection_failed() {
    let host = FakeHost::new([r#"{"broken":"connect ECONNREFUSED 127.0.0.1:443"}"#]);
    let error = get_job(&host.client()).max_retries(0).send().await;
    let error = error.unwrap_err();
    assert!(!error.may_have_been_sent());
    let text = "gate.example refuses connections; check the address, the network and the proxy";
    assert_eq!(error.to_string(), text);
}

#[wasm_bindgen_test]
async fn a_fetch_result_that_is_not_a_response_is_a_connection_error() {
    for value in ["null", "7", "{}", r#"{"status":200}"#] {
        let host = FakeHost::new([format!(r#"{{"nothing":{{"value":{value}}}}}"#)]);
        let call = get_job(&host.client()).max_retries(0);
        let Err(Error::Connection(failure)) = call.send().await else {
            panic!("expected {value} to be rejected as a response");
        };
        assert_eq!(
            failure.cause.to_string(),
            "TypeError: fetch did not return a Response"
        );
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn the_global_fetch_is_the_default() {
    let host = FakeHost::new([OK]);
    host.replace_global_fetch();
    let builder = Client::builder().gateway("https://gate.example", TOKEN);
    let client = builder.project("acme").build().unwrap();
    get_job(&client).send().await.unwrap();
    assert_eq!(host.count(), 1);
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_service_binding_sends_requests() {
    let host = FakeHost::new([OK]);
    let binding = Object::new();
    Reflect::set(&binding, &"fetch".into(), &host.fetch()).unwrap();
    let builder = host.builder().host(through(&binding).unwrap());
    get_job(&builder.build().unwrap()).send().await.unwrap();
    assert_eq!(host.count(), 1);
    assert!(through(&JsValue::from(7)).is_err());
}
