use std::future::Future;
use std::pin::pin;

use crate::fake_host::{FakeHost, get_job};
use futures_util::future::{Either, select};
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;

/// Drops a future after `ms`. Panics if the future finishes earlier.
async fn drop_after(ms: u32, host: &FakeHost, work: impl Future) {
    match select(pin!(work), pin!(host.sleep(ms))).await {
        Either::Left(_) => panic!("the future finished before it was dropped"),
        Either::Right(_) => {}
    }
}

#[wasm_bindgen_test]
async fn dropping_a_call_aborts_its_request_and_sends_nothing_more() {
    for response in [
        r#"{"stall":"head"}"#,
        r#"{"stall":"head","deaf":true}"#,
        r#"{"status":200,"stall":"body"}"#,
        r#"{"status":500,"stall":"body","deaf":true}"#,
        r#"{"status":503,"headers":{"retry-after":"30"}}"#,
    ] {
        let host = FakeHost::new([response, OK]);
        drop_after(250, &host, get_job(&host.client()).send()).await;
        assert_eq!(host.elapsed(), 250);
        host.assert_idle();
        host.sleep(60_000).await;
        assert_eq!(host.count(), 1, "{response}: not sent again");
    }
}
