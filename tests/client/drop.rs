//! Dropping a future aborts its request and clears its timers. Lists lose nothing, and watches continue.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use crate::fake_host::{FakeHost, get_job};
use futures_util::future::{Either, select};
use tokio::time::sleep;

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
    let mut watch = host.client().agent_jobs().watch("j1");
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
