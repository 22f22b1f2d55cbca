//! Tests that need a JavaScript host: messages as structured clones, and pages as JavaScript
//! strings.
#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps a missing value fails right there"
)]

use std::fmt::Debug;

use js_sys::{JsString, Object, Reflect};
use quillgate::{Millis, Operation, RateLimitPolicy};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::AbortController;

use crate::analytics::health::{OrganizationBudgets, OrganizationHealth};
use crate::analytics::organization_stub::{ReportCall, ReportReply};
use crate::analytics::page::{PageHead, PageSlice};
use crate::analytics::page_store::split_text;
use crate::analytics::pages::{Page, PageRow, Report};
use crate::analytics::query::ReportQuery;
use crate::app::streams::wait_for_change;
use crate::budget::Ceiling;
use crate::budget::health::BudgetHealth;
use crate::budget::reservation::BudgetRequest;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::jobs::events::{LongPoll, StreamEvent};
use crate::jobs::health::{ProjectBudgets, ProjectHealth};
use crate::jobs::idempotency::Retry;
use crate::jobs::project_stub::{WatchCall, WriteReply};
use crate::jobs::records::{JobFilter, JobQuery};
use crate::jobs::write::Write;
use crate::runtime::tests::{fake_socket, listen, run_js};
use crate::runtime::{Call, receive, send_back};
use crate::upstream::breaker;
use crate::upstream::metrics::{ExchangeMetrics, RequestMetrics};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = structuredClone)]
    fn structured_clone(value: &JsValue) -> JsValue;
}

fn text(text: &str) -> String {
    text.to_owned()
}

// --- messages --------------------------------------------------------------

fn assert_survives<T: Serialize + DeserializeOwned + Debug>(message: &T) {
    let sent = structured_clone(&send_back(message).unwrap());
    let received: T = receive(sent).unwrap();
    assert_eq!(format!("{received:?}"), format!("{message:?}"));
}

fn call() -> Call {
    Call {
        id: text("r1"),
        project: text("p1"),
        traceparent: text("00-1-2-01"),
        tracestate: None,
    }
}

fn budget_request(policy: RateLimitPolicy) -> BudgetRequest {
    BudgetRequest {
        policy,
        caller: text("issuer subject"),
        quota: Some(3),
        ceilings: vec![Ceiling {
            name: text("  rule"),
            max: 9,
        }],
    }
}

fn filled_write() -> Write {
    Write {
        budget: budget_request(RateLimitPolicy::SendMessage),
        subject: text("ana@example.org"),
        job: Some(text("j1")),
        key: Some(text("k1")),
        fingerprint: text("f"),
        retry: Retry::Force,
        target: text("/v2/agent/p1/job/j1/message"),
        body: text("{\"prompt\":\"écris 😀\"}"),
        prompt_summary: text("écris 😀"),
        prompt: Some(text("écris 😀\nencore")),
        webhook: Some(text("https://hook.example/")),
    }
}

fn metrics() -> RequestMetrics {
    RequestMetrics {
        upstream: Some(ExchangeMetrics {
            status: Some(503),
            milliseconds: 1_234,
            operator: Some(text("renew the key")),
        }),
        cache: Some(text("hit; ttl=-3")),
        budget_left: Some(0),
        operator: Some(text("look here")),
    }
}

fn problem() -> GatewayResponse {
    let response = GatewayResponse::problem(&Problem::malformed_body(), "r1");
    GatewayResponse {
        headers: response.headers.with("retry-after", "3"),
        ..response
    }
}

fn views_call() -> ReportCall {
    ReportCall {
        id: text("r1"),
        traceparent: text("00-1-2-01"),
        tracestate: Some(text("vendor=opaque")),
        budget: budget_request(RateLimitPolicy::Analytics),
        query: ReportQuery {
            operation: Operation::ListPageViews,
            project: text("p1"),
            list: text("/v2/analytics/p1/views?dateFrom=2023-03-01"),
            limit: 250,
            offset: 5_000,
            fresh_for: 86_400_000,
        },
        revalidate: true,
        accepts_stale: true,
    }
}

fn page_row(has_more: bool) -> PageRow {
    PageRow {
        text: "{\"views\":[],\"é\":\"😀\"}".into(),
        tag: text("a"),
        rows: 250,
        has_more: has_more.into(),
        fetched: 1_700_000_000_000,
        fresh_until: 1_700_000_060_000,
    }
}

fn views_reply() -> ReportReply {
    ReportReply {
        pages: vec![page_row(true), page_row(false)],
        refusal: None,
        headers: HeaderFields::default().with("ratelimit", "\"analytics\";r=1;t=60"),
        metrics: metrics(),
    }
}

fn budget_health(closed_until: Option<u64>) -> BudgetHealth {
    BudgetHealth {
        limit: 10,
        left: 4,
        closed_until,
    }
}

fn org_health() -> OrganizationHealth {
    OrganizationHealth {
        breaker: breaker::State::Open,
        budgets: OrganizationBudgets {
            analytics: budget_health(Some(1_700_000_000_000)),
        },
        cached_pages: 64,
        key_set_calls: 5,
    }
}

fn project_health() -> ProjectHealth {
    ProjectHealth {
        breaker: breaker::State::Open,
        budgets: ProjectBudgets {
            create_job: budget_health(None),
            send_message: budget_health(Some(5)),
        },
        watchers: 200,
        webhooks_waiting: 3,
        alarms: 4,
    }
}

#[wasm_bindgen_test]
fn a_write_survives_structured_cloning() {
    let filled = filled_write();
    assert_survives(&filled);
    assert_survives(&Write {
        budget: BudgetRequest {
            quota: None,
            ceilings: Vec::new(),
            ..budget_request(RateLimitPolicy::CreateJob)
        },
        job: None,
        key: None,
        retry: Retry::Normal,
        prompt: None,
        webhook: None,
        ..filled
    });
}

#[wasm_bindgen_test]
fn a_job_query_survives_structured_cloning() {
    for cursor in [None, Some(text("cursor"))] {
        assert_survives(&JobQuery {
            filter: JobFilter::default(),
            limit: 100,
            cursor,
        });
    }
}

#[wasm_bindgen_test]
fn a_watch_call_survives_its_url() {
    for (job, after) in [(None, None), (Some(text("a/b?c&é")), Some(3))] {
        let watch = WatchCall {
            call: call(),
            job,
            caller: text("a-hash"),
            after,
        };
        let read = WatchCall::from_url(&watch.to_url()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{watch:?}"));
    }
    assert!(WatchCall::from_url("https://project/").is_none());
}

#[wasm_bindgen_test]
fn a_write_reply_survives_structured_cloning() {
    for response in [
        problem(),
        GatewayResponse::json(201, "{\"id\":\"j1\"}"),
        GatewayResponse::empty(204),
    ] {
        let metrics = metrics();
        assert_survives(&WriteReply { response, metrics });
    }
    let response = GatewayResponse::empty(204);
    let metrics = RequestMetrics::default();
    assert_survives(&WriteReply { response, metrics });
}

#[wasm_bindgen_test]
fn a_report_call_survives_structured_cloning() {
    let filled = views_call();
    assert_survives(&filled);
    assert_survives(&ReportCall {
        budget: BudgetRequest {
            quota: None,
            ..filled.budget.clone()
        },
        revalidate: false,
        accepts_stale: false,
        ..filled
    });
}

#[wasm_bindgen_test]
fn a_report_reply_survives_structured_cloning() {
    assert_survives(&views_reply());
    assert_survives(&ReportReply {
        refusal: Some(problem()),
        ..ReportReply::default()
    });
}

#[wasm_bindgen_test]
fn page_json_stays_a_javascript_string_in_a_message() {
    let reply = views_reply();
    let sent = structured_clone(&send_back(&reply).unwrap());
    let mut text = sent.clone();
    for name in ["pages", "0", "text"] {
        text = Reflect::get(&text, &name.into()).unwrap();
    }
    assert!(text.is_string());
    let received: ReportReply = receive(sent).unwrap();
    let text_of = |reply: ReportReply| reply.pages[0].text.clone();
    assert_eq!(text_of(received), text_of(reply));
}

#[wasm_bindgen_test]
fn the_organization_health_survives_structured_cloning() {
    assert_survives(&org_health());
    assert_survives(&OrganizationHealth {
        breaker: breaker::State::Closed,
        budgets: OrganizationBudgets {
            analytics: budget_health(None),
        },
        cached_pages: 0,
        key_set_calls: 0,
    });
}

#[wasm_bindgen_test]
fn a_project_health_survives_structured_cloning() {
    assert_survives(&project_health());
}

#[wasm_bindgen_test]
fn an_unknown_enum_value_in_a_message_is_an_error() {
    let sent = send_back(&filled_write()).unwrap();
    let budget = Reflect::get(&sent, &"budget".into()).unwrap();
    Reflect::set(&budget, &"policy".into(), &"sendMessage".into()).unwrap();
    receive::<Write>(sent).unwrap_err();

    let sent = send_back(&views_call()).unwrap();
    let query = Reflect::get(&sent, &"query".into()).unwrap();
    Reflect::set(&query, &"operation".into(), &"analytics.view".into()).unwrap();
    receive::<ReportCall>(sent).unwrap_err();
}

#[wasm_bindgen_test]
fn a_message_without_a_required_field_is_an_error() {
    let sent = send_back(&views_call()).unwrap();
    Reflect::delete_property(&sent.clone().into(), &"query".into()).unwrap();
    receive::<ReportCall>(sent).unwrap_err();
}

// --- pages -----------------------------------------------------------------

fn page(text: &str, rows: u64, has_more: bool) -> Page {
    let head = PageHead {
        tag: String::new(),
        rows,
        has_more,
        fetched: Millis(0),
        fresh_until: Millis(0),
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
fn a_page_survives_the_conversion_to_a_row_and_back() {
    let before = page("{\"views\":[]}", 7, true);
    let after = Page::from(PageRow::from(before.clone()));
    assert_eq!((after.head, after.text), (before.head, before.text));
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

// --- sockets ---------------------------------------------------------------

/// Creates a socket whose `send` and `close` throw, like those of a closed socket.
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

// --- long polls ------------------------------------------------------------

#[wasm_bindgen_test]
async fn a_long_poll_without_a_wait_returns_an_event_that_arrives_late() {
    let socket = fake_socket();
    let controller = AbortController::new().unwrap();
    let messages = listen(&socket, &controller.signal(), Millis::from_seconds(60));
    let event = StreamEvent {
        id: 1,
        name: text("job"),
        data: text("{}"),
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
