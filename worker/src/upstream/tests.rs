//! Tests that need a JavaScript host.
#![expect(
    clippy::unwrap_used,
    reason = "a failed unwrap fails the test at its line"
)]

use futures_util::FutureExt as _;
use quillgate::{Millis, Operation};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::http::response::HeaderFields;
use crate::runtime::make_response;
use crate::runtime::tests::{property, run_js, stream_of};
use crate::upstream::client::{FetchedPage, UpstreamResponse};
use crate::upstream::connections::Connections;
use crate::upstream::failure::TransportError;
use crate::upstream::head::UpstreamHead;
use crate::upstream::permits::ConnectionClass;
use crate::upstream::transport::{Caching, Outgoing, send};

/// Returns `response`, or never responds if it is `null`. The returned object records the `init`
/// argument.
fn replace_fetch(response: &JsValue) -> JsValue {
    let script = "
        const call = {};
        globalThis.fetch = async (_, init) => {
          call.init = init;
          if (argument) return argument;
          return new Promise((_, reject) => {
            init.signal.addEventListener('abort', () => reject(init.signal.reason));
          });
        };
        return call;";
    run_js(response, script)
}

fn outgoing() -> Outgoing<'static> {
    Outgoing {
        method: "POST",
        url: "https://api.example/",
        headers: HeaderFields::default().with("accept", "application/json"),
        body: Some("{}"),
        caching: Caching::Bypass,
        time: Millis(10),
    }
}

fn is_aborted(call: &JsValue) -> bool {
    let signal = property(&property(call, "init"), "signal");
    property(&signal, "aborted").is_truthy()
}

#[wasm_bindgen_test]
async fn a_request_without_a_response_times_out() {
    let call = replace_fetch(&JsValue::NULL);
    assert_eq!(send(outgoing()).await.err(), Some(TransportError::TimedOut));
    assert!(is_aborted(&call));
}

#[wasm_bindgen_test]
async fn dropping_a_response_aborts_its_request() {
    let headers = HeaderFields::default().with("retry-after", "5");
    let response = make_response(503, &headers, &stream_of(&[b"a"]));
    let call = replace_fetch(&response);
    let received = send(outgoing()).await.ok().unwrap();
    assert_eq!(received.head.status, 503);
    assert_eq!(received.head.headers.get("retry-after"), Some("5"));
    assert!(!is_aborted(&call));
    drop(received);
    assert!(is_aborted(&call));
    let init = property(&call, "init");
    assert_eq!(property(&init, "redirect"), "manual");
    assert_eq!(property(&init, "cache"), "no-store");
}

#[wasm_bindgen_test]
async fn only_2xx_responses_are_cached() {
    let call = replace_fetch(&response_of_length_3("identity"));
    let cached = Outgoing {
        caching: Caching::For(Millis::from_seconds(3_600)),
        ..outgoing()
    };
    assert!(send(cached).await.is_ok());
    let init = property(&call, "init");
    // The runtime rejects `cf` with cache settings next to `no-store`.
    assert!(property(&init, "cache").is_undefined());
    let cf = js_sys::JSON::stringify(&property(&init, "cf")).unwrap();
    let expected = r#"{"cacheEverything":true,"cacheTtlByStatus":{"200-299":3600,"300-599":-1}}"#;
    assert_eq!(cf, expected);
}

fn response_of_length_3(encoding: &'static str) -> web_sys::Response {
    let headers = HeaderFields::default()
        .with("content-length", "3")
        .with("content-encoding", encoding);
    make_response(200, &headers, &stream_of(&[b"a", b"bc"]))
}

#[wasm_bindgen_test]
async fn a_complete_response_is_not_aborted() {
    for encoding in ["identity", "gzip"] {
        let call = replace_fetch(&response_of_length_3(encoding));
        let received = send(outgoing()).await.ok().unwrap();
        assert_eq!(received.body.read(3).await.as_deref(), Some("abc"));
        drop(received);
        assert!(!is_aborted(&call), "{encoding}");
    }
}

#[wasm_bindgen_test]
async fn a_response_over_its_maximum_size_is_aborted() {
    for encoding in ["identity", "gzip"] {
        let call = replace_fetch(&response_of_length_3(encoding));
        let received = send(outgoing()).await.ok().unwrap();
        assert_eq!(received.body.read(2).await, None);
        assert!(is_aborted(&call), "{encoding}");
    }
}

#[wasm_bindgen_test]
async fn a_response_is_decoded_as_utf_8() {
    let chunks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"a\xc3", b"\xa9\xff"];
    let response = make_response(200, &HeaderFields::default(), &stream_of(&chunks));
    replace_fetch(&response);
    let received = send(outgoing()).await.ok().unwrap();
    assert_eq!(received.body.read(7).await.as_deref(), Some("aé\u{fffd}"));
}

#[wasm_bindgen_test]
async fn a_dropped_wait_for_a_connection_keeps_no_permit() {
    const LIMIT: usize = ConnectionClass::Webhook.limit();
    for is_granted in [false, true] {
        let connections = Connections::default();
        let acquire = || connections.acquire(ConnectionClass::Webhook, Millis::from_seconds(60));
        let held: Vec<_> = (0..LIMIT).map(|_| acquire().now_or_never()).collect();
        let mut waiting = Box::pin(acquire());
        assert!(waiting.as_mut().now_or_never().is_none());
        if is_granted {
            drop(held);
            drop(waiting);
        } else {
            drop(waiting);
            drop(held);
        }
        let held: Vec<_> = (0..LIMIT).map(|_| acquire().now_or_never()).collect();
        assert!(held.iter().all(Option::is_some), "{is_granted}");
    }
}

const MALFORMED: [&str; 7] = [
    "",
    "{\"id\":\"j1\"",
    "[]",
    "[{}]",
    "null",
    "\"text\"",
    "{}x",
];

fn response(body: &str) -> UpstreamResponse {
    UpstreamResponse {
        head: UpstreamHead {
            status: 200,
            ..UpstreamHead::default()
        },
        body: body.to_owned(),
    }
}

/// `rows` empty rows. More pages follow.
fn page(rows: usize) -> String {
    let views = vec!["{}"; rows].join(",");
    format!("{{ \"totals\": {{}}, \"views\": [{views}], \"hasMore\": true }}")
}

#[wasm_bindgen_test]
fn a_page_is_read_without_changing_its_text() {
    for rows in [0, 1, 250] {
        let text = page(rows);
        let reply = FetchedPage::read(Operation::ListPageViews, response(&text)).unwrap();
        assert_eq!((reply.rows, reply.has_more), (rows as u64, true));
        assert_eq!(String::from(reply.text), text);
    }
    let last = "{\"totals\":{},\"views\":[],\"hasMore\":false}";
    assert!(
        !FetchedPage::read(Operation::ListPageViews, response(last))
            .unwrap()
            .has_more
    );
}

#[wasm_bindgen_test]
fn a_response_that_is_not_a_page_is_rejected() {
    let too_long = page(251);
    let misshapen = [
        "{}",
        "{\"totals\":5,\"views\":[],\"hasMore\":true}",
        "{\"totals\":[],\"views\":[],\"hasMore\":true}",
        "{\"totals\":{},\"hasMore\":true}",
        "{\"totals\":{},\"views\":{},\"hasMore\":true}",
        "{\"totals\":{},\"views\":null,\"hasMore\":true}",
        "{\"totals\":{},\"views\":[],\"hasMore\":1}",
        &too_long,
    ];
    for text in MALFORMED.into_iter().chain(misshapen) {
        let reply = FetchedPage::read(Operation::ListPageViews, response(text));
        assert!(reply.is_none(), "{text}");
    }
}
