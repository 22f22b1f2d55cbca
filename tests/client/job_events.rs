use std::pin::pin;
use std::time::Duration;

use crate::fake_host::{FakeHost, stream, watch};
use futures_util::future::{Either, select};
use quillgate::JobStatus;
use quillgate::client::{Error, Watch};
use serde_json::{Value, json};

/// The response with one more property.
fn with(response: &str, name: &str, value: Value) -> String {
    let mut response: Value = serde_json::from_str(response).unwrap();
    response[name] = value;
    response.to_string()
}

fn event(id: u64, status: &str) -> String {
    format!("id: {id}\nevent: job\ndata: {{\"id\":\"j1\",\"status\":\"{status}\"}}\n\n")
}

fn poll(status: &str) -> String {
    format!(r#"{{"status":200,"json":{{"id":"j1","status":"{status}"}}}}"#)
}

async fn changes(host: &FakeHost, watch: &mut Watch) -> Vec<(u64, String, bool)> {
    let mut changes = Vec::new();
    while let Some(change) = watch.next().await.unwrap() {
        let status = change.job.status.unwrap().as_str().to_owned();
        changes.push((host.elapsed(), status, change.is_final));
    }
    changes
}

fn change(at: u64, status: &str, is_final: bool) -> (u64, String, bool) {
    (at, status.to_owned(), is_final)
}

fn paths(host: &FakeHost) -> Vec<String> {
    let targets = (0..host.count()).map(|at| host.target(at));
    targets
        .map(|target| target.replace("/v2/agent/acme/job/j1", ""))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_watch_follows_the_events_of_a_gateway_as_they_arrive() {
    let (active, done) = (event(1, "active"), event(3, "completed"));
    let (start, end) = done.split_at(21);
    let host = FakeHost::streaming([stream(&json!([
        "retry: 3000\n\n",
        active,
        500,
        ": hb\n\n",
        event(2, "active"),
        1_000,
        start,
        10,
        end,
        30_000,
    ]))]);
    let mut watch = watch(&host);
    let expected = [change(0, "active", false), change(1_510, "completed", true)];
    assert_eq!(changes(&host, &mut watch).await, expected);
    host.assert_idle();
    assert_eq!(watch.next().await, Ok(None));
    assert_eq!(paths(&host), ["/events"]);
    let expected = Some("text/event-stream");
    assert_eq!(host.header(0, "accept").as_deref(), expected);
    assert_eq!(host.header(0, "last-event-id"), None);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_stream_resumes_after_the_last_complete_event() {
    let half = "id: 8\nevent: job\ndata: {\"id\":\"j1\"";
    let ended = stream(&json!(["retry: 1700\n\n", event(7, "active"), half]));
    for first in [with(&ended, "broken_body", json!("reset")), ended] {
        let host = FakeHost::streaming([first, stream(&json!([event(8, "completed")]))]);
        let expected = [change(0, "active", false), change(1_700, "completed", true)];
        assert_eq!(changes(&host, &mut watch(&host)).await, expected);
        assert_eq!(host.header(1, "last-event-id").as_deref(), Some("7"));
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_opened_again() {
    let host = FakeHost::streaming([
        stream(&json!([
            event(1, "active"),
            44_999,
            ": hb\n\n",
            45_001,
            event(9, "failed")
        ])),
        r#"{"stall":"head"}"#.to_owned(),
        stream(&json!([event(2, "completed")])),
    ]);
    let mut watch = watch(&host);
    let expected = [
        change(0, "active", false),
        change(44_999 + 45_000 + 3_000 + 45_000 + 3_000, "completed", true),
    ];
    assert_eq!(changes(&host, &mut watch).await, expected);
}

#[tokio::test(start_paused = true)]
async fn polls_replace_streams_without_events_and_streams_are_tried_again_after_a_minute() {
    let (empty, polls) = (vec![stream(&json!([])); 3], vec![poll("active"); 7]);
    let done = stream(&json!([event(1, "completed")]));
    let host = FakeHost::streaming([empty, polls, vec![done]].concat());
    let changes = changes(&host, &mut watch(&host)).await;
    let times = host.times();
    assert_eq!(times[..4], [0, 3_000, 6_000, 6_000]);
    assert_eq!(changes[0], change(6_000, "active", false));
    assert_eq!(paths(&host)[2..4], ["/events", ""]);
    // The first poll that is due after a minute becomes a stream.
    let [.., before, last] = times[..] else {
        panic!("{times:?}");
    };
    assert!(before < 66_000 && last >= 66_000, "{times:?}");
    assert_eq!(changes[1..], [change(last, "completed", true)]);
    assert_eq!(paths(&host).last().unwrap(), "/events");
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_not_a_stream_is_followed_by_polls() {
    for refusal in [
        r#"{"status":404,"json":{}}"#,
        r#"{"status":429,"headers":{"retry-after":"9"}}"#,
        r#"{"status":200,"headers":{"content-type":"text/html"},"chunks":["x"]}"#,
        r#"{"status":204,"headers":{"content-type":"text/event-stream"}}"#,
        r#"{"broken":"CORS"}"#,
    ] {
        let host = FakeHost::streaming([refusal, &poll("active"), &poll("completed")]);
        let client = host.client();
        let changes = changes(&host, &mut client.agent_jobs().watch("j1")).await;
        let expected = [change(0, "active", false), change(2_000, "completed", true)];
        assert_eq!(changes, expected, "{refusal}");
        assert_eq!(paths(&host), ["/events", "", ""]);
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn the_watches_of_a_client_share_a_refusal() {
    let host = FakeHost::streaming([r#"{"status":429}"#, &poll("completed"), &poll("completed")]);
    let client = host.client();
    for _ in 0..2 {
        let watch = client.clone().agent_jobs().watch("j1");
        watch.wait().await.unwrap();
    }
    assert_eq!(paths(&host), ["/events", "", ""]);
}

#[tokio::test(start_paused = true)]
async fn a_client_of_mintlify_opens_no_stream() {
    let host = FakeHost::streaming([poll("completed")]);
    let client = host.platform().build().unwrap();
    client.agent_jobs().watch("j1").wait().await.unwrap();
    assert_eq!(host.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_with_another_job_ends_the_watch() {
    let other = "id must be the requested id, found another one";
    for (data, reason) in [
        (r#"{"id":"j2"}"#, other),
        ("[]", "body must be an object, found an array"),
        ("{", "body EOF while parsing an object at line 1 column 1"),
    ] {
        let event = format!("event: job\ndata: {data}\n\n");
        let host = FakeHost::streaming([stream(&json!([event, 9_999]))]);
        let mut watch = watch(&host);
        let error = watch.next().await.unwrap_err();
        assert!(matches!(error, Error::Decode { .. }));
        assert_eq!(error.to_string(), reason);
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_times_out_while_a_stream_is_open() {
    let host = FakeHost::streaming([
        stream(&json!([event(1, "active"), 40_000, ": hb\n\n", 40_000])),
        poll("active"),
    ]);
    let mut watch = watch(&host).watch_timeout(Duration::from_secs(50));
    watch.next().await.unwrap();
    let Err(Error::WatchTimeout(Some(job))) = watch.next().await else {
        panic!("expected a timeout with the job");
    };
    assert_eq!(job.status, Some(JobStatus::Active));
    assert_eq!(host.times(), [0, 50_000]);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_watch_polls_at_its_timeout_while_a_stream_is_silent() {
    for silent in [
        stream(&json!([event(1, "active"), 40_000])),
        r#"{"stall":"head"}"#.to_owned(),
    ] {
        let host = FakeHost::streaming([silent, poll("completed")]);
        let watch = watch(&host).watch_timeout(Duration::from_secs(30));
        let job = watch.wait().await.unwrap();
        assert_eq!(job.status, Some(JobStatus::Completed));
        assert_eq!(host.times(), [0, 30_000]);
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_without_a_stream_does_not_stop_the_streams_of_other_jobs() {
    let done = stream(&json!([event(1, "completed")]));
    let host = FakeHost::streaming([r#"{"status":404}"#, r#"{"status":404}"#, &done]);
    let client = host.client();
    let error = client.agent_jobs().watch("gone").next().await.unwrap_err();
    assert!(matches!(error, Error::Api(error) if error.status == 404));
    client.agent_jobs().watch("j1").wait().await.unwrap();
    assert_eq!(host.target(2), "/v2/agent/acme/job/j1/events");
}

#[tokio::test(start_paused = true)]
async fn events_before_one_that_is_too_large_are_returned() {
    let empty = stream(&json!([]));
    let large = format!("{}data: {}", event(1, "completed"), "a".repeat(1 << 20));
    let host = FakeHost::streaming([&empty, &empty, &stream(&json!([large]))]);
    watch(&host).wait().await.unwrap();
    assert_eq!(host.count(), 3);
}

/// A program that does something else every 300 ms.
async fn next_between_ticks(watch: &mut Watch) -> Option<quillgate::client::JobChange> {
    loop {
        let sleep = tokio::time::sleep(Duration::from_millis(300));
        if let Either::Left((next, _)) = select(pin!(watch.next()), pin!(sleep)).await {
            return next.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_next_restarts_neither_a_wait_nor_a_request() {
    let late = |response: &str| with(response, "after", json!(1_000));
    let empty = stream(&json!([]));
    let host = FakeHost::streaming([
        late(&stream(&json!([event(1, "active"), 50_000]))),
        late(&empty),
        empty.clone(),
        empty,
        late(&poll("active")),
        late(&poll("completed")),
    ]);
    let mut watch = watch(&host);
    assert!(!next_between_ticks(&mut watch).await.unwrap().is_final);
    assert!(next_between_ticks(&mut watch).await.unwrap().is_final);
    // The stream was silent for 45 s.
    assert_eq!(host.times(), [0, 49_000, 53_000, 56_000, 58_000, 62_000]);
    assert_eq!(paths(&host)[3..], ["/events", "", ""]);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn dropping_a_watch_closes_its_stream() {
    let host = FakeHost::streaming([stream(&json!([event(1, "active"), 2_000]))]);
    let mut watch = watch(&host);
    watch.next().await.unwrap();
    drop(watch);
    host.assert_idle();
}
