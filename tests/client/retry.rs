use std::time::Duration;

use quillgate::client::{ApiCall, Error};
use quillgate::{CreateAgentJob, CreatedJob};

use crate::fake_host::{FakeHost, create, get_job};

const OK: &str = r#"{"status":200,"json":{"id":"j1"}}"#;
const BUSY: &str = r#"{"status":503,"json":{"error":"busy"}}"#;

#[tokio::test(start_paused = true)]
async fn a_post_to_the_platform_is_never_retried() {
    for response in [
        BUSY,
        r#"{"status":429,"headers":{"retry-after":"1"}}"#,
        r#"{"status":408}"#,
        r#"{"broken":"reset"}"#,
        r#"{"stall":"head"}"#,
        r#"{"status":201,"stall":"body"}"#,
    ] {
        let host = FakeHost::new([response, OK]);
        let client = host.platform().max_retries(5).build().unwrap();
        create(&client).send().await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}");
        host.assert_idle();

        let host = FakeHost::new([response, OK]);
        let client = host.platform().max_retries(5).build().unwrap();
        let call = create(&client).idempotency_key("once-1");
        call.send().await.unwrap_err();
        assert_eq!(host.count(), 1, "{response}: nor with a key");
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_an_attempt_includes_its_body() {
    for stall in [
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":500,"stall":"body"}"#,
        r#"{"stall":"head"}"#,
        r#"{"status":200,"after":4001,"json":{}}"#,
    ] {
        let host = FakeHost::new([stall]);
        let call = get_job(&host.client()).max_retries(0);
        let call = call.timeout(Duration::from_secs(4));
        let error = call.send().await.unwrap_err();
        assert_eq!(error, Error::Timeout(Duration::from_secs(4)));
        assert_eq!(error.to_string(), "no complete response within 4000 ms");
        assert_eq!(host.count(), 1);
        assert_eq!(host.elapsed(), 4000);
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_to_a_gateway_is_retried_with_the_same_idempotency_key() {
    let host = FakeHost::new([BUSY, r#"{"broken":"reset"}"#, OK]);
    create(&host.client()).send().await.unwrap();
    assert_eq!(host.times(), [0, 500, 1500]);
    let headers = host.request(0, "headers");
    assert!(host.header(0, "idempotency-key").is_some());
    for at in 1..3 {
        assert_eq!(host.request(at, "headers"), headers, "the same key");
    }

    let host = FakeHost::new([BUSY, OK]);
    let call = create(&host.client()).max_retries(0);
    call.send().await.unwrap_err();
    assert_eq!(host.count(), 1);
}

const RUNNING: &str = r#"{"status":409,"headers":{"retry-after":"1"},
    "json":{"type":"/problems/idempotency-key-in-use","detail":"in use"}}"#;

fn create_once(host: &FakeHost) -> ApiCall<CreateAgentJob> {
    create(&host.client()).idempotency_key("once-1")
}

#[tokio::test(start_paused = true)]
async fn a_running_request_is_polled_until_it_finishes() {
    let broken = r#"{"broken":"reset"}"#;
    let responses = [broken, RUNNING, RUNNING, RUNNING, RUNNING, OK];
    let host = FakeHost::new(responses);
    let job: CreatedJob = create_once(&host).max_retries(1).send().await.unwrap();
    assert_eq!(job.id, "j1");
    assert_eq!(host.times(), [0, 500, 1500, 2500, 3500, 4500]);
    for at in 0..6 {
        let key = host.header(at, "idempotency-key");
        assert_eq!(key.as_deref(), Some("once-1"));
    }
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_created_job_that_cannot_be_read_has_an_unknown_outcome() {
    let cut = "body EOF while parsing an object at line 1 column 1";
    for (body, reason) in [
        (r#""text":"{""#, cut),
        (
            r#""text":"<html>""#,
            "body expected value at line 1 column 1",
        ),
        (r#""json":{"id":null}"#, "id must be a string, found null"),
    ] {
        let response = format!(r#"{{"status":201,"headers":{{"x-request-id":"r-3"}},{body}}}"#);
        for builder in [FakeHost::builder, FakeHost::platform] {
            let host = FakeHost::new([&response, &response]);
            let client = builder(&host).build().unwrap();
            let Err(Error::OutcomeUnknown(error)) = create(&client).send().await else {
                panic!("expected an unknown outcome");
            };
            let message = format!("the response of the write can't be read: {reason}");
            assert_eq!((error.status, error.message), (201, message));
            assert_eq!(error.request_id.as_deref(), Some("r-3"));
            assert_eq!(host.count(), 1, "the write is not repeated");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_with_an_incomplete_response_has_an_unknown_outcome() {
    let cut = r#"{"status":201,"broken_body":"reset","headers":{"x-request-id":"r-3"}}"#;
    let large = r#"{"status":201,"broken_body":"the body is larger than 8 MiB"}"#;
    let created = r#"{"status":201,"json":{"id":"j1"}}"#;
    for (response, attempts) in [(cut, 2), (large, 1)] {
        let host = FakeHost::new([response; 2]);
        let error = create(&host.client()).max_retries(1).send().await;
        let Err(Error::OutcomeUnknown(error)) = error else {
            panic!("expected an unknown outcome");
        };
        assert_eq!(error.status, 201);
        let found = host.count();
        assert_eq!(found, attempts, "only a gateway can repeat its response");
        let host = FakeHost::new([response; 2]);
        let error = create(&host.platform().build().unwrap()).send().await;
        assert!(matches!(error, Err(Error::OutcomeUnknown(_))), "{error:?}");
        assert_eq!(host.count(), 1);
    }
    let host = FakeHost::new([cut, created]);
    assert!(create(&host.client()).send().await.is_ok());
    let host = FakeHost::new([cut]);
    let error = get_job(&host.client()).max_retries(0).send().await;
    assert!(matches!(error, Err(Error::Connection(_))), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_the_gateway_does_not_know_is_its_own_error() {
    let host = FakeHost::new([
        r#"{"status":504,"json":{"detail":"no answer","outcome":"unknown"}}"#,
        r#"{"status":504,"json":{"detail":"no answer"}}"#,
    ]);
    let call = || create(&host.client()).max_retries(0);
    let error = call().send().await.unwrap_err();
    assert!(matches!(error, Error::OutcomeUnknown(_)), "{error:?}");
    assert_eq!(error.to_string(), "status 504: no answer");
    assert!(matches!(call().send().await, Err(Error::Api(_))));
}
