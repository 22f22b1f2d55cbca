//! A run through the pages of a list.

use crate::fake_host::{FakeHost, assert_json, get, json, part, printed};
use quillgate::wasm::{Engine, Pages};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

/// A run through page views.
fn views(engine: &Engine, params: JsValue, everything: bool) -> Result<Pages, JsValue> {
    engine.pages("analytics.views", params, everything)
}

async fn turn(pages: &Pages) -> Result<JsValue, JsValue> {
    JsFuture::from(pages.next(json("{}"))).await
}

/// A page with that many rows.
fn page(rows: usize, has_more: bool) -> String {
    let views = vec![r#"{"path":"/"}"#; rows].join(",");
    format!(
        r#"{{"status":200,"headers":{{"x-request-id":"r-4"}},"json":{{"totals":{{"total":9}},"views":[{views}],"hasMore":{has_more}}}}}"#
    )
}

fn target(host: &FakeHost, at: u32) -> String {
    host.request(at, "url")
        .replace('"', "")
        .replace("https://gate.example/v1/analytics/acme/views", "")
}

const YEAR: &str = r#"{"dateFrom":"2023-01-01","dateTo":"2024-01-01","limit":2}"#;

#[wasm_bindgen_test]
async fn a_run_goes_from_page_to_page_until_there_is_no_more() {
    let answers = [page(2, true), page(2, true), page(1, false)];
    let host = FakeHost::new(answers.iter().map(String::as_str));
    let pages = views(&host.engine(), json(YEAR), true).unwrap();
    for (at, rows, offset, next) in [(0, 2, 0, Some(2)), (1, 2, 2, Some(4)), (2, 1, 4, None)] {
        let turned = turn(&pages).await.unwrap();
        let data = get(&turned, "data");
        assert_eq!(js_sys::Array::from(&get(&turned, "rows")).length(), rows);
        assert_eq!(get(&turned, "rows"), get(&data, "views"), "the same array");
        assert_eq!(
            printed(&get(&data, "totals")),
            r#"{"ai":null,"human":null,"total":9}"#
        );
        assert_eq!(get(&turned, "offset"), offset);
        assert_eq!(
            printed(&get(&turned, "response")),
            r#""response 200, read true""#
        );
        let query = format!("?dateFrom=2023-01-01&dateTo=2024-01-01&limit=2&offset={offset}");
        assert_eq!(target(&host, at), query);
        match next {
            Some(next) => assert_json(
                &pages.cursor(),
                &format!(
                    r#"{{"dateFrom":"2023-01-01","dateTo":"2024-01-01","limit":2,"offset":{next}}}"#
                ),
            ),
            None => assert_eq!(pages.cursor(), JsValue::NULL),
        }
    }
    for _ in 0..2 {
        assert_eq!(turn(&pages).await.unwrap(), JsValue::UNDEFINED);
    }
    assert_eq!(host.count(), 3);
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn a_run_through_everything_asks_for_full_pages_of_one_range() {
    let answers = [page(250, true), page(0, false)];
    let host = FakeHost::new(answers.iter().map(String::as_str));
    let pages = views(&host.engine(), json("{}"), true).unwrap();
    turn(&pages).await.unwrap();
    turn(&pages).await.unwrap();
    // The end is frozen at the beginning of the run.
    let end = "dateTo=2024-01-01T00%3A00%3A00.000Z&limit=250";
    assert_eq!(target(&host, 0), format!("?{end}&offset=0"));
    assert_eq!(target(&host, 1), format!("?{end}&offset=250"));
}

#[wasm_bindgen_test]
async fn one_page_is_asked_for_as_it_is() {
    let host = FakeHost::new([page(0, false).as_str(), page(0, false).as_str()]);
    let engine = host.engine();
    turn(&views(&engine, json(r#"{"offset":30}"#), false).unwrap())
        .await
        .unwrap();
    turn(&views(&engine, json(r#"{"limit":9}"#), false).unwrap())
        .await
        .unwrap();
    assert_eq!(target(&host, 0), "?limit=50&offset=30");
    assert_eq!(target(&host, 1), "?limit=9&offset=0");
}

#[wasm_bindgen_test]
async fn a_run_may_begin_at_a_page_counted_from_1() {
    let host = FakeHost::new([page(0, true).as_str()]);
    let pages = views(&host.engine(), json(r#"{"page":3,"limit":20}"#), false).unwrap();
    let turned = turn(&pages).await.unwrap();
    assert_eq!(get(&turned, "offset"), 40);
    assert_eq!(target(&host, 0), "?limit=20&offset=40");
    // What is kept says where the list goes on, and no page.
    assert_json(&pages.cursor(), r#"{"limit":20,"offset":60}"#);
}

const JOBS: &str = "https://gate.example/v2/agent/acme/jobs";

#[wasm_bindgen_test]
async fn a_run_by_cursor_goes_where_each_page_says() {
    let host = FakeHost::new([
        r#"{"status":200,"json":{"jobs":[{"id":"j1"},{"id":"j2"}],"nextCursor":"b+"}}"#,
        r#"{"status":200,"json":{"jobs":[],"nextCursor":"c"}}"#,
        r#"{"status":200,"json":{"jobs":[{"id":"j3"}]}}"#,
    ]);
    let engine = host.engine();
    let pages = engine.pages("agentJobs.list", json("{}"), true).unwrap();
    for (at, rows, query, kept) in [
        (0, 2, "?limit=100", r#"{"limit":100,"cursor":"b+"}"#),
        (
            1,
            0,
            "?limit=100&cursor=b%2B",
            r#"{"limit":100,"cursor":"c"}"#,
        ),
        (2, 1, "?limit=100&cursor=c", "null"),
    ] {
        let turned = turn(&pages).await.unwrap();
        assert_eq!(js_sys::Array::from(&get(&turned, "rows")).length(), rows);
        assert_eq!(get(&turned, "offset"), JsValue::NULL);
        assert_eq!(host.request(at, "url"), format!("\"{JOBS}{query}\""));
        assert_json(&pages.cursor(), kept);
    }
    assert_eq!(turn(&pages).await.unwrap(), JsValue::UNDEFINED);
    assert_eq!(host.count(), 3);
}

#[wasm_bindgen_test]
async fn a_cursor_that_comes_again_is_refused() {
    let answer = r#"{"status":200,"json":{"jobs":[{"id":"j1"}],"nextCursor":"b"}}"#;
    let host = FakeHost::new([answer, answer]);
    let engine = host.engine();
    let pages = engine.pages("agentJobs.list", json("{}"), true).unwrap();
    turn(&pages).await.unwrap();
    let fault = turn(&pages).await.unwrap_err();
    assert_json(
        &part(&fault, &["kind", "where", "what"]),
        r#"{"kind":"decode","where":"nextCursor",
            "what":"is one that the list has gone through already"}"#,
    );
    assert_eq!(pages.cursor(), JsValue::NULL);
    assert_eq!(host.count(), 2);
}

#[wasm_bindgen_test]
fn a_run_through_what_is_no_operation_is_refused() {
    let host = FakeHost::new([]);
    let pages = host.engine().pages("pageViews", json("{}"), true);
    assert_json(
        &part(&pages.err().unwrap(), &["kind", "field", "rule"]),
        r#"{"kind":"validation","field":"operation","rule":"unknown"}"#,
    );
}

#[wasm_bindgen_test]
async fn a_run_goes_on_from_a_cursor() {
    let answers = [page(2, true), page(1, false)];
    let host = FakeHost::new(answers.iter().map(String::as_str));
    let engine = host.engine();
    let pages = views(&engine, json(YEAR), true).unwrap();
    turn(&pages).await.unwrap();
    // As text, as somebody would keep it.
    let kept = printed(&pages.cursor());
    let pages = views(&engine, json(&kept), true).unwrap();
    turn(&pages).await.unwrap();
    assert_eq!(
        target(&host, 1),
        "?dateFrom=2023-01-01&dateTo=2024-01-01&limit=2&offset=2"
    );
    assert_eq!(pages.cursor(), JsValue::NULL);
}

#[wasm_bindgen_test]
async fn an_empty_page_is_not_the_end() {
    let answers = [page(2, true), page(0, true), page(1, false)];
    let host = FakeHost::new(answers.iter().map(String::as_str));
    let pages = views(&host.engine(), json(YEAR), true).unwrap();
    let mut rows = Vec::new();
    loop {
        let turned = turn(&pages).await.unwrap();
        if turned.is_undefined() {
            break;
        }
        rows.push(js_sys::Array::from(&get(&turned, "rows")).length());
    }
    assert_eq!(rows, [2, 0, 1]);
}

#[wasm_bindgen_test]
async fn empty_pages_do_not_go_on_for_ever() {
    let answers = vec![page(0, true); 6];
    let host = FakeHost::new(answers.iter().map(String::as_str));
    let pages = views(&host.engine(), json(YEAR), true).unwrap();
    for _ in 0..4 {
        turn(&pages).await.unwrap();
    }
    let fault = turn(&pages).await.unwrap_err();
    assert_json(
        &part(&fault, &["kind", "where", "what", "requestId"]),
        r#"{"kind":"decode","where":"hasMore","requestId":"r-4",
            "what":"says that there is more, after 5 empty pages in a row"}"#,
    );
    assert_eq!(host.count(), 5);
}

#[wasm_bindgen_test]
async fn a_page_with_more_rows_than_asked_for_is_refused() {
    let host = FakeHost::new([page(3, true).as_str()]);
    let pages = views(&host.engine(), json(YEAR), true).unwrap();
    let fault = turn(&pages).await.unwrap_err();
    assert_json(
        &part(&fault, &["kind", "where", "message"]),
        r#"{"kind":"decode","where":"views","message":"views has more rows than were asked for"}"#,
    );
}

#[wasm_bindgen_test]
async fn a_page_that_failed_is_asked_for_again() {
    let answers = [
        page(2, true),
        r#"{"status":404}"#.into(),
        r#"{"status":503}"#.into(),
        page(2, false),
    ];
    let host = FakeHost::new(answers.iter().map(String::as_str));
    let pages = views(&host.engine(), json(YEAR), true).unwrap();
    turn(&pages).await.unwrap();
    let cursor = printed(&pages.cursor());
    turn(&pages).await.unwrap_err();
    assert_eq!(printed(&pages.cursor()), cursor, "nothing is skipped");
    let turned = turn(&pages).await.unwrap();
    assert_eq!(get(&turned, "offset"), 2);
    assert_eq!(target(&host, 1), target(&host, 2));
    assert_eq!(
        target(&host, 1),
        target(&host, 3),
        "a retry is the same request"
    );
}

#[wasm_bindgen_test]
async fn a_run_is_taken_back_with_the_signals_own_reason() {
    let host = FakeHost::new([page(2, true).as_str(), r#"{"stall":"head"}"#]);
    let pages = views(&host.engine(), json(YEAR), true).unwrap();
    let never = host.signal(None, &JsValue::UNDEFINED);
    JsFuture::from(pages.next(never)).await.unwrap();
    let soon = host.signal(Some(80), &"left".into());
    let reason = JsFuture::from(pages.next(soon)).await.unwrap_err();
    assert_eq!(reason, "left");
    host.assert_quiet();
}

#[wasm_bindgen_test]
fn a_range_that_ends_before_it_begins_is_refused() {
    let host = FakeHost::new([]);
    for (params, everything) in [
        (r#"{"dateFrom":"2024-01-02","dateTo":"2024-01-01"}"#, false),
        // Its open end is frozen at the instant at which the host begins.
        (r#"{"dateFrom":"2024-01-01T00:00:00Z"}"#, true),
    ] {
        let fault = views(&host.engine(), json(params), everything)
            .err()
            .unwrap();
        assert_json(
            &part(&fault, &["kind", "field", "rule"]),
            r#"{"kind":"validation","field":"dateFrom","rule":"before-date-to"}"#,
        );
    }
    assert_eq!(host.count(), 0);
}
