//! Writes with an unknown outcome.

use crate::fake_host::{FakeHost, create, get_job};
use quillgate::Error;

#[tokio::test(start_paused = true)]
async fn a_created_job_that_cannot_be_read_has_an_unknown_outcome() {
    for (body, reason) in [
        (
            r#""text":"{""#,
            "body EOF while parsing an object at line 1 column 1",
        ),
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
        assert_eq!(
            host.count(),
            attempts,
            "only a gateway can repeat its response"
        );
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
