//! Watching a job until it finishes.

use std::time::Duration;

use crate::fake_host::FakeHost;
use quillgate::client::{Error, JobChange, Watch};
use quillgate::{JobStatus, Rule};

fn watch(host: &FakeHost) -> Watch {
    host.client().agent_jobs().watch("j1")
}

fn job(status: &str) -> String {
    format!(r#"{{"status":200,"json":{{"id":"j1","status":{status}}}}}"#)
}

/// A host that answers each poll with a job in this status, or with this response.
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

#[tokio::test(start_paused = true)]
async fn a_watch_yields_the_job_and_each_change_until_it_finishes() {
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
    assert_eq!(host.times(), [0, 2000, 5000, 9500, 16250]);
    assert_eq!(
        watch.next().await,
        Ok(None),
        "a finished watch stays finished"
    );
    assert_eq!(host.count(), 5);
    host.assert_idle();
}

#[track_caller]
fn last_job<T: std::fmt::Debug>(result: Result<T, Error>) -> Option<JobStatus> {
    match result {
        Err(Error::WatchTimeout(job)) => job.and_then(|job| job.status),
        other => panic!("expected a watch timeout, found {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_times_out_even_if_the_server_never_responds() {
    let deaf = r#"{"stall":"head"}"#;
    let host = host(&[deaf, deaf]);
    let mut watch = watch(&host).watch_timeout(Duration::from_secs(10));
    assert_eq!(last_job(watch.next().await), None);
    assert!(host.elapsed() <= 11_000, "at {}", host.elapsed());
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_watch_with_invalid_timeouts_is_rejected() {
    for millis in [0, 1 << 31] {
        let host = host(&[ACTIVE]);
        let timeout = Duration::from_millis(millis);
        for (watch, field) in [
            (watch(&host).watch_timeout(timeout), "watchTimeout"),
            (watch(&host).timeout(timeout), "timeout"),
        ] {
            let Err(Error::Validation(error)) = watch.wait().await else {
                panic!("expected {timeout:?} to be rejected");
            };
            assert_eq!(error.field, field);
            assert_eq!(error.rule, Rule::MILLISECONDS);
        }
        assert_eq!(host.count(), 0);
    }
}
