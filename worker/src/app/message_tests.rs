//! Tests that need a JavaScript host.
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps a missing value fails right there"
)]

use js_sys::{JsString, Object, Reflect};
use quillgate::{Millis, Operation};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::AbortController;

use crate::analytics::organization_stub::ReportReply;
use crate::analytics::page::{Freshness, PageHead, PageSlice};
use crate::analytics::page_store::split_text;
use crate::analytics::pages::{Page, Report};
use crate::app::handlers::streams::wait_for_change;
use crate::jobs::events::{LongPoll, StreamEvent};
use crate::jobs::project_stub::WatchCall;
use crate::jobs::resource::Resource;
use crate::runtime::tests::{fake_socket, listen, run_js};
use crate::runtime::{receive, send_back};
use crate::upstream::request::RequestIds;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = structuredClone)]
    fn structured_clone(value: &JsValue) -> JsValue;
}

#[wasm_bindgen_test]
fn page_json_stays_a_javascript_string_in_a_message() {
    let json = "{\"views\":[],\"é\":\"😀\"}";
    let reply = ReportReply {
        pages: vec![page(json, 0, false)],
        ..ReportReply::default()
    };
    let sent = structured_clone(&send_back(&reply).unwrap());
    let mut text = sent.clone();
    for name in ["pages", "0", "text"] {
        text = Reflect::get(&text, &name.into()).unwrap();
    }
    assert!(text.is_string());
    let received: ReportReply = receive(sent).unwrap();
    assert_eq!(received.pages[0].text, json);
}

#[wasm_bindgen_test]
fn a_message_without_a_required_field_is_an_error() {
    let sent = send_back(&ReportReply::default()).unwrap();
    Reflect::delete_property(&sent.clone().into(), &"pages".into()).unwrap();
    receive::<ReportReply>(sent).unwrap_err();
}

#[wasm_bindgen_test]
fn a_watch_call_survives_its_url() {
    for (job, after) in [(None, None), (Some("a/b?c&é".to_owned()), Some(3))] {
        let watch = WatchCall {
            ids: RequestIds::begin("r1".to_owned(), "p1"),
            resource: Resource::Job,
            job,
            caller: "a-hash".to_owned(),
            after,
        };
        let read = WatchCall::from_url(&watch.to_url().unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{watch:?}"));
    }
    assert!(WatchCall::from_url("https://project/").is_none());
}

fn page(text: &str, rows: u64, has_more: bool) -> Page {
    let head = PageHead {
        tag: String::new(),
        rows,
        has_more,
        totals: None,
        freshness: Freshness {
            fetched: Millis(0),
            until: Millis(0),
        },
    };
    Page::new(head, JsString::from(text))
}

const fn slice(number: u64, from: u64, to: u64) -> PageSlice {
    PageSlice { number, from, to }
}

fn cut(pages: &[(Page, PageSlice)]) -> String {
    Report::cut(Operation::ListPageViews, pages)
        .unwrap()
        .body
        .into()
}

#[wasm_bindgen_test]
fn a_report_of_one_whole_page_is_verbatim() {
    let text = "{ \"hasMore\" : false, \"views\": [1.0],\n\"totals\": {} }";
    assert_eq!(cut(&[(page(text, 1, false), slice(0, 0, 250))]), text);
}

#[wasm_bindgen_test]
fn a_report_is_cut_from_the_pages_that_contain_its_rows() {
    let first = "{\"totals\":{\"a\":1},\"views\":[1,2,3],\"hasMore\":true}";
    let last = "{\"totals\":{\"a\":2},\"views\":[4,5,6],\"hasMore\":false}";
    let pages = [
        (page(first, 3, true), slice(0, 1, 250)),
        (page(last, 3, false), slice(1, 0, 2)),
    ];
    let body = "{\"totals\":{\"a\":2},\"views\":[2,3,4,5],\"hasMore\":true}";
    assert_eq!(cut(&pages), body);
}

#[wasm_bindgen_test]
fn other_properties_of_the_last_page_keep_their_order() {
    let first = "{\"first\":1,\"totals\":{},\"views\":[1],\"hasMore\":true}";
    let last =
        "{\"z\":[null],\"hasMore\":true,\"views\":[2,3],\"totals\":{\"b\":1,\"a\":2},\"a\":\"é\"}";
    let pages = [
        (page(first, 1, true), slice(0, 0, 250)),
        (page(last, 2, false), slice(1, 0, 2)),
    ];
    let body = "{\"z\":[null],\"hasMore\":false,\"views\":[1,2,3],\"totals\":{\"b\":1,\"a\":2},\"a\":\"é\"}";
    assert_eq!(cut(&pages), body);
}

#[wasm_bindgen_test]
fn has_more_is_true_after_cut_off_rows_or_if_the_upstream_has_more() {
    let text = "{\"totals\":{},\"views\":[1,2],\"hasMore\":null}";
    for (to, upstream, has_more) in [
        (1, false, true),
        (2, false, false),
        (2, true, true),
        (9, false, false),
    ] {
        let body = cut(&[(page(text, 2, upstream), slice(0, 0, to))]);
        assert!(
            body.ends_with(&format!("\"hasMore\":{has_more}}}")),
            "{body}"
        );
    }
}

#[wasm_bindgen_test]
fn a_slice_past_the_last_row_is_empty() {
    let text = "{\"totals\":{},\"views\":[1,2],\"hasMore\":false}";
    let body = "{\"totals\":{},\"views\":[],\"hasMore\":false}";
    assert_eq!(cut(&[(page(text, 2, false), slice(0, 5, 10))]), body);
}

#[wasm_bindgen_test]
fn a_report_without_a_page_is_an_error() {
    assert!(Report::cut(Operation::ListPageViews, &[]).is_err());
}

#[wasm_bindgen_test]
fn a_string_is_split_into_short_parts_and_never_within_a_character() {
    for (text, parts) in [
        ("", vec![""]),
        ("abc", vec!["abc"]),
        ("abcd", vec!["abc", "d"]),
        ("abcdef", vec!["abc", "def"]),
        ("ab😀", vec!["ab", "😀"]),
        ("a😀bc", vec!["a😀", "bc"]),
        ("😀😀😀é", vec!["😀", "😀", "😀é"]),
    ] {
        let split = split_text(&JsString::from(text), 3);
        let split: Vec<String> = split.iter().map(String::from).collect();
        assert_eq!(split, parts, "{text}");
    }
}

/// Like the methods of a closed socket, `send` and `close` throw.
fn broken_socket() -> worker::WebSocket {
    let socket = Object::new();
    let throw = js_sys::Function::new_no_args("throw new TypeError('already closed')");
    for name in ["send", "close"] {
        Reflect::set(&socket, &name.into(), &throw).unwrap();
    }
    socket.unchecked_into::<web_sys::WebSocket>().into()
}

#[wasm_bindgen_test]
fn a_closed_socket_does_not_fail_its_sender() {
    let socket = broken_socket();
    socket.send_with_str("x").unwrap_err();
    crate::runtime::sockets::send(&socket, "x");
    crate::runtime::sockets::close(&socket, "finished");
}

#[wasm_bindgen_test]
async fn a_long_poll_without_a_wait_returns_an_event_that_arrives_late() {
    let socket = fake_socket();
    let controller = AbortController::new().unwrap();
    let messages = listen(&socket, &controller.signal(), Millis::from_seconds(60));
    let event = StreamEvent {
        id: 1,
        name: "job".to_owned(),
        data: "{}".to_owned(),
    };
    Reflect::set(&socket, &"event".into(), &event.to_text().into()).unwrap();
    run_js::<JsValue>(
        &socket,
        "setTimeout(() => argument.send(argument.event), 50);",
    );
    let mut poll = LongPoll::new(None);
    wait_for_change(&messages, &mut poll, Millis(0)).await;
    let response = poll.to_response(0).unwrap();
    assert_eq!(response.body.as_deref(), Some("{}"));
}
