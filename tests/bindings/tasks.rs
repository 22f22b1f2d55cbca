//! The steps of a task, by number.

use quillgate::Rule;
use quillgate_wasm::protocol::{CommandNumber, EventNumber, Mode, Output, Source};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::fake_driver::FakeDriver;

#[wasm_bindgen_test]
fn a_call_begins_sends_and_delivers() {
    let mut driver = FakeDriver::new("agentJobs.create", Mode::Once, r#"{ "prompt": "a\"\n😀" }"#);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Yield);
    assert_eq!(driver.step(EventNumber::Next, 0), CommandNumber::Send);
    let request = "POST /v2/agent/acme/job\n{\"prompt\":\"a\\\"\\n😀\"}";
    assert_eq!(
        driver.emitted(Output::Request),
        [(60_000, request.to_owned())]
    );
    assert_eq!(driver.step(EventNumber::Result, 0), CommandNumber::Yield);
}

#[wasm_bindgen_test]
fn a_failure_is_retried_after_retry_after() {
    let mut driver = FakeDriver::new("agentJobs.get", Mode::Once, r#"{ "id": "j1" }"#);
    driver.step(EventNumber::Begin, 0);
    driver.step(EventNumber::Next, 0);
    driver.set_source(Source::Head, r#"{ "retryAfter": "7" }"#);
    assert_eq!(driver.step(EventNumber::Status, 503), CommandNumber::Retry);
    assert_eq!(driver.emitted(Output::RetryAfter), [(0, "7000".to_owned())]);
    assert_eq!(driver.emitted(Output::Duration), [(7_000, String::new())]);
    assert_eq!(driver.step(EventNumber::Waited, 0), CommandNumber::Send);
    assert_eq!(driver.step(EventNumber::Status, 404), CommandNumber::Fail);
}

#[wasm_bindgen_test]
fn a_list_continues_where_its_page_ends() {
    let mut driver = FakeDriver::new(
        "analytics.views",
        Mode::Pages,
        r#"{ "dateTo": "2024-01-01", "limit": 2 }"#,
    );
    let cursor = |text: &str| [(0, text.to_owned())];
    driver.step(EventNumber::Begin, 0);
    let first = cursor(r#"{"dateTo":"2024-01-01","limit":2,"offset":0}"#);
    assert_eq!(driver.emitted(Output::Position), first);
    driver.step(EventNumber::Next, 0);
    driver.set_source(Source::Body, r#"{ "hasMore": true }"#);
    assert_eq!(driver.step(EventNumber::Page, 2), CommandNumber::Yield);
    let second = cursor(r#"{"dateTo":"2024-01-01","limit":2,"offset":2}"#);
    assert_eq!(driver.emitted(Output::Position), second);
    driver.set_source(Source::Body, r#"{ "hasMore": false }"#);
    driver.step(EventNumber::Next, 0);
    driver.step(EventNumber::Page, 1);
    assert_eq!(driver.emitted(Output::Position), []);
    assert_eq!(driver.step(EventNumber::Next, 0), CommandNumber::Done);
}

#[wasm_bindgen_test]
fn a_raw_request_emits_only_its_timeout_and_rejects_a_path_that_leaves_the_base_url() {
    let raw = |path: &str| {
        let params = ["{ \"method\": \"GET\", \"path\": \"", path, "\" }"].concat();
        FakeDriver::new("request", Mode::Raw, &params)
    };
    let mut driver = raw("/v1/x");
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Yield);
    assert_eq!(driver.step(EventNumber::Next, 0), CommandNumber::Send);
    assert_eq!(driver.emitted(Output::Duration), [(60_000, String::new())]);
    assert_eq!(driver.step(EventNumber::Result, 0), CommandNumber::Yield);
    let mut driver = raw("/v1/../x");
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Reject);
}

#[wasm_bindgen_test]
fn a_page_that_contradicts_its_list_is_rejected_with_a_reason() {
    let mut driver = FakeDriver::new("analytics.views", Mode::Pages, r#"{ "limit": 2 }"#);
    driver.step(EventNumber::Begin, 0);
    driver.step(EventNumber::Next, 0);
    driver.set_source(Source::Body, r#"{ "hasMore": true }"#);
    assert_eq!(driver.step(EventNumber::Page, 3), CommandNumber::RejectPage);
    let reason = "views\nhas more rows than requested\n";
    assert_eq!(
        driver.emitted(Output::PageRejection),
        [(0, reason.to_owned())]
    );
}

#[wasm_bindgen_test]
fn a_watch_finishes_with_its_job() {
    let mut driver = FakeDriver::new("agentJobs.get", Mode::Watch, r#"{ "id": "j1" }"#);
    driver.set_source(Source::Watch, r#"{ "timeout": 9000 }"#);
    driver.step(EventNumber::Begin, 0);
    assert_eq!(driver.emitted(Output::Duration), [(9_000, String::new())]);
    driver.step(EventNumber::Next, 0);
    driver.set_source(Source::Body, r#"{ "status": "active" }"#);
    assert_eq!(driver.step(EventNumber::Job, 1), CommandNumber::Yield);
    assert_eq!(driver.step(EventNumber::Job, 0), CommandNumber::Wait);
    driver.set_source(Source::Body, r#"{ "status": "completed" }"#);
    assert_eq!(driver.step(EventNumber::Job, 1), CommandNumber::YieldLast);
}

#[wasm_bindgen_test]
fn an_unknown_operation_is_rejected() {
    let mut driver = FakeDriver::new("agentJobs.delete", Mode::Once, "{}");
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Reject);
    let (rule, lines) = driver.rejection();
    assert_eq!(
        (rule, lines[0].as_str()),
        (Rule::Unknown.number(), "operation")
    );
}

#[wasm_bindgen_test]
fn events_before_begin_and_unknown_event_numbers_do_nothing() {
    let mut driver = FakeDriver::new("agentJobs.get", Mode::Once, r#"{ "id": "j1" }"#);
    for event in [EventNumber::Next, EventNumber::Waited, EventNumber::Status] {
        assert_eq!(driver.step(event, 500), CommandNumber::Done);
    }
    assert!(EventNumber::from_number(99).is_none());
}
