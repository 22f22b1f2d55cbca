//! Writes with an unknown outcome.

use crate::fake_host::{FakeHost, create};
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
            let message = format!("the response does not tell what was created: {reason}");
            assert_eq!((error.status, error.message), (201, message));
            assert_eq!(error.request_id.as_deref(), Some("r-3"));
            assert_eq!(host.count(), 1, "the write is not repeated");
        }
    }
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
