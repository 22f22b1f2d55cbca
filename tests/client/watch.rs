use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use quillgate::JobStatus;
use quillgate::client::{Error, JobChange};
use tokio::time::sleep;

use crate::fake_host::{FakeHost, get_job, watch};

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
    let expected = [
        (0, active(), false),
        (5_000, active(), false),
        (9_500, active(), false),
        (16_250, "completed".to_owned(), true),
    ];
    assert_eq!(changes, expected);
    assert_eq!(host.times(), [0, 2000, 5000, 9500, 16250]);
    let found = watch.next().await;
    assert_eq!(found, Ok(None), "a finished watch stays finished");
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

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;

/// Drops a future after `ms`. Panics if the future finishes earlier.
async fn drop_after(ms: u64, work: impl Future) {
    match select(pin!(work), pin!(sleep(Duration::from_millis(ms)))).await {
        Either::Left(_) => panic!("the future finished before it was dropped"),
        Either::Right(_) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_aborts_its_request_and_sends_nothing_more() {
    for response in [
        r#"{"stall":"head"}"#,
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":500,"stall":"body"}"#,
        r#"{"status":503,"headers":{"retry-after":"30"}}"#,
    ] {
        let host = FakeHost::new([response, OK]);
        drop_after(250, get_job(&host.client()).send()).await;
        assert_eq!(host.elapsed(), 250);
        host.assert_idle();
        sleep(Duration::from_mins(1)).await;
        assert_eq!(host.count(), 1, "{response}: not sent again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_continues_after_its_next_future_was_dropped() {
    let late = r#"{"status":200,"after":900,"json":{"id":"j1","status":"completed"}}"#;
    let host = FakeHost::new([OK, late]);
    let mut watch = watch(&host);
    assert!(!watch.next().await.unwrap().unwrap().is_final);
    // The first drop happens during the wait of 2 s, the second during the next poll.
    drop_after(500, watch.next()).await;
    assert_eq!(host.count(), 1);
    drop_after(2_000, watch.next()).await;
    assert_eq!(host.count(), 2);
    assert!(watch.next().await.unwrap().unwrap().is_final);
    assert_eq!((host.count(), host.elapsed()), (2, 2_900));
    assert!(watch.next().await.unwrap().is_none());
    host.assert_idle();
}
