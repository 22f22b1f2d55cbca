//! A watch of a job until it has come to its end.

use crate::fake_host::{FakeHost, job_1};
use quillgate::client::{Error, JobChange, Watch};
use quillgate::{CallOptions, JobStatus, Millis, Rule};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

/// A watch over a job that is seen in these states, one poll after another.
fn watch(host: &FakeHost) -> Watch {
    host.client().agent_jobs().watch(job_1())
}

fn job(status: &str) -> String {
    format!(r#"{{"status":200,"json":{{"id":"j1","status":{status}}}}}"#)
}

fn host(polls: &[&str]) -> FakeHost {
    FakeHost::new(polls.iter().map(|poll| {
        if poll.starts_with('{') {
            (*poll).to_owned()
        } else {
            job(poll)
        }
    }))
}

fn status(change: &JobChange) -> &str {
    change.job.status.as_ref().map_or("null", JobStatus::as_str)
}

const ACTIVE: &str = r#""active""#;
const COMPLETED: &str = r#""completed""#;
const BUSY: &str = r#"{"status":503,"json":{"error":"busy"}}"#;

#[wasm_bindgen_test]
async fn the_job_is_given_as_it_is_then_as_it_changes_until_its_end() {
    let moved = r#"{"status":200,"json":{"id":"j1","status":"active","model":"m"}}"#;
    let host = host(&[ACTIVE, ACTIVE, moved, ACTIVE, COMPLETED]);
    let mut watch = watch(&host);
    let mut changes = Vec::new();
    while let Some(change) = watch.next().await.unwrap() {
        changes.push((host.elapsed(), status(&change).to_owned(), change.is_final));
    }
    let active = || "active".to_owned();
    assert_eq!(
        changes,
        [
            (0, active(), false),
            (5_000, active(), false),
            (9_500, active(), false),
            (16_250, "completed".to_owned(), true),
        ]
    );
    assert_eq!(host.times(), "[0,2000,5000,9500,16250]");
    assert_eq!(watch.next().await, Ok(None), "and stays over");
    assert_eq!(host.count(), 5);
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn a_job_that_has_ended_is_given_at_once() {
    for end in ["completed", "archived", "failed"] {
        let host = host(&[&format!("\"{end}\"")]);
        let change = watch(&host).next().await.unwrap().unwrap();
        assert!(change.is_final);
        assert_eq!(status(&change), end);
        assert_eq!(host.count(), 1);
        assert_eq!(host.elapsed(), 0);
    }
}

#[wasm_bindgen_test]
async fn an_unknown_status_is_given_and_slows_the_polls_down() {
    let host = host(&[r#""queued""#, r#""queued""#, "null", COMPLETED]);
    let mut watch = watch(&host);
    for (expected, is_final) in [("queued", false), ("null", false), ("completed", true)] {
        let change = watch.next().await.unwrap().unwrap();
        assert_eq!(status(&change), expected);
        assert_eq!(change.is_final, is_final);
    }
    assert_eq!(host.times(), "[0,5000,10000,15000]");
}

#[wasm_bindgen_test]
async fn the_servers_retry_after_is_not_undercut() {
    let hint = r#"{"status":200,"headers":{"retry-after":"20"},"json":{"status":"active"}}"#;
    let host = host(&[hint, BUSY, COMPLETED]);
    let mut watch = watch(&host);
    watch.next().await.unwrap();
    watch.next().await.unwrap();
    assert_eq!(host.times(), "[0,20000,23000]");
}

#[track_caller]
fn last_job<T: std::fmt::Debug>(result: Result<T, Error>) -> Option<JobStatus> {
    match result {
        Err(Error::WatchTimeout(job)) => job.and_then(|job| job.status),
        other => panic!("the deadline has not come: {other:?}"),
    }
}

#[wasm_bindgen_test]
async fn the_deadline_gives_the_job_as_last_seen() {
    let host = host(&[ACTIVE, ACTIVE, ACTIVE, ACTIVE]);
    let mut watch = watch(&host).with_timeout(Millis(6000));
    watch.next().await.unwrap();
    let error = watch.next().await.unwrap_err();
    assert_eq!(error.to_string(), "the job was not finished in time");
    assert_eq!(last_job::<()>(Err(error)), Some(JobStatus::Active));
    // The last poll is at the deadline itself.
    assert_eq!(host.times(), "[0,2000,5000,6000]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn the_deadline_comes_also_when_the_server_never_answers() {
    let deaf = r#"{"stall":"head","deaf":true}"#;
    let host = host(&[deaf, deaf]);
    let mut watch = watch(&host).with_timeout(Millis(10_000));
    assert_eq!(last_job(watch.next().await), None);
    assert!(host.elapsed() <= 11_000, "at {}", host.elapsed());
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn polls_that_fail_are_passed_over_until_there_are_5_in_a_row() {
    let host = host(&[
        BUSY,
        r#"{"broken":"reset"}"#,
        BUSY,
        BUSY,
        ACTIVE,
        BUSY,
        BUSY,
        BUSY,
        BUSY,
        BUSY,
    ]);
    let mut watch = watch(&host);
    let change = watch.next().await.unwrap().unwrap();
    assert_eq!(status(&change), "active");
    let Err(Error::Api(error)) = watch.next().await else {
        panic!("the last failure is the result");
    };
    assert_eq!(error.status, 503);
    assert_eq!(host.count(), 10);
}

#[wasm_bindgen_test]
async fn a_failure_that_does_not_pass_ends_the_watch() {
    for poll in [
        r#"{"status":404,"json":{"error":"no such job"}}"#,
        r#"{"status":200,"text":"<html>"}"#,
    ] {
        let host = host(&[ACTIVE, poll, COMPLETED]);
        let mut watch = watch(&host);
        watch.next().await.unwrap();
        let error = watch.next().await.unwrap_err();
        assert!(matches!(error, Error::Api(_) | Error::Decode { .. }));
        assert_eq!(host.times(), "[0,2000]");
    }
}

#[wasm_bindgen_test]
async fn a_watch_is_aborted_in_a_wait_or_a_poll() {
    for (polls, ms) in [
        ([ACTIVE, ACTIVE], 1_200),
        ([ACTIVE, r#"{"stall":"head","deaf":true}"#], 2_600),
        (
            [ACTIVE, r#"{"status":200,"stall":"body","deaf":true}"#],
            2_600,
        ),
    ] {
        let host = host(&polls);
        let signal = host.signal(Some(ms), &"seen enough".into());
        let mut watch = watch(&host).with_signal(signal);
        watch.next().await.unwrap();
        let Err(Error::Aborted(reason)) = watch.next().await else {
            panic!("not aborted");
        };
        assert_eq!(reason.as_js(), &JsValue::from("seen enough"));
        assert_eq!(host.elapsed(), ms);
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn a_wait_gives_the_job_as_it_ends() {
    let host = host(&[ACTIVE, BUSY, COMPLETED]);
    let job = host.client().agent_jobs().wait(job_1()).await.unwrap();
    assert_eq!(job.status, Some(JobStatus::Completed));
    assert_eq!(host.times(), "[0,2000,5000]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn a_wait_is_given_up_at_its_deadline() {
    let host = host(&[ACTIVE; 4]);
    let wait = host.client().agent_jobs().wait(job_1());
    let result = wait.with_timeout(Millis(6000)).await;
    assert_eq!(last_job(result), Some(JobStatus::Active));
    assert_eq!(host.times(), "[0,2000,5000,6000]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn a_watch_with_bad_times_is_refused() {
    for timeout in [0, 1 << 31] {
        let host = host(&[ACTIVE]);
        let refused = watch(&host).with_timeout(Millis(timeout)).next().await;
        let Err(Error::Validation(error)) = refused else {
            panic!("{timeout} was taken");
        };
        assert_eq!(
            (error.field.as_ref(), error.rule),
            ("timeout", Rule::MILLISECONDS)
        );
        let options = CallOptions {
            timeout: Millis(timeout),
            ..CallOptions::default()
        };
        let refused = watch(&host).with_options(options).next().await;
        assert!(matches!(refused, Err(Error::Validation(_))));
        assert_eq!(host.count(), 0);
    }
}
