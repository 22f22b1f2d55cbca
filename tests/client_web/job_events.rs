use std::pin::pin;

use crate::fake_host::FakeHost;
use futures_util::future::{Either, select};
use quillgate::client::Error;
use quillgate::{Client, JobStatus};
use wasm_bindgen_test::wasm_bindgen_test;

const STREAM: &str = r#"{"status":200,"headers":{"content-type":"text/event-stream"},"stream":[
    "event: job\ndata: {\"status\":\"active\"}\n\n", 2000,
    "event: job\ndata: {\"status\":\"completed\"}\n\n"]}"#;

#[wasm_bindgen_test]
async fn events_arrive_in_chunks_and_dropping_next_loses_none() {
    let host = FakeHost::new([STREAM]);
    let mut watch = host.client().agent_jobs().watch("j1");
    let change = watch.next().await.unwrap().unwrap();
    assert_eq!(change.job.status, Some(JobStatus::Active));
    match select(pin!(watch.next()), pin!(host.sleep(1_000))).await {
        Either::Left(_) => panic!("no event was sent"),
        Either::Right(_) => {}
    }
    let change = watch.next().await.unwrap().unwrap();
    assert_eq!(change.job.status, Some(JobStatus::Completed));
    assert_eq!(host.elapsed(), 2_000);
    assert_eq!(host.count(), 1);
    drop(watch);
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_signal_aborts_an_open_stream() {
    let host = FakeHost::new([STREAM]);
    let signal = host.signal(Some(700), &"seen enough".into());
    let client: Client = host.client();
    let mut watch = client.agent_jobs().watch("j1").signal(signal);
    watch.next().await.unwrap();
    let Err(Error::Aborted(reason)) = watch.next().await else {
        panic!("expected an abort");
    };
    assert_eq!(reason.as_js().as_string().as_deref(), Some("seen enough"));
    assert_eq!(host.elapsed(), 700);
    drop(watch);
    host.assert_idle();
}
