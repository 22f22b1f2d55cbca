//! A wait for a job to come to its end.

use crate::fake_host::{FakeHost, assert_json, get, json, part, printed};
use quillgate::wasm::Watch;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

async fn next(watch: &Watch) -> Result<JsValue, JsValue> {
    JsFuture::from(watch.next(json("{}"))).await
}

/// A watch over a job that is seen in these states, one look after another.
fn watching(host: &FakeHost, options: &str) -> Watch {
    host.engine()
        .watch(json(r#"{"id":"j1"}"#), json(options))
        .unwrap()
}

fn job(status: &str) -> String {
    format!(r#"{{"status":200,"json":{{"id":"j1","status":{status}}}}}"#)
}

fn host(looks: &[&str]) -> FakeHost {
    let answers: Vec<String> = looks
        .iter()
        .map(|look| {
            if look.starts_with('{') {
                (*look).to_owned()
            } else {
                job(look)
            }
        })
        .collect();
    FakeHost::new(answers.iter().map(String::as_str))
}

fn status(change: &JsValue) -> String {
    printed(&get(&get(change, "job"), "status"))
}

const ACTIVE: &str = r#""active""#;
const COMPLETED: &str = r#""completed""#;
const BUSY: &str = r#"{"status":503,"json":{"error":"busy"}}"#;

#[wasm_bindgen_test]
async fn the_job_is_told_as_it_is_then_as_it_changes_until_its_end() {
    let moved = r#"{"status":200,"json":{"id":"j1","status":"active","model":"m"}}"#;
    let host = host(&[ACTIVE, ACTIVE, moved, ACTIVE, COMPLETED]);
    let watch = watching(&host, "{}");
    let mut told = Vec::new();
    loop {
        let change = next(&watch).await.unwrap();
        if change.is_undefined() {
            break;
        }
        told.push((host.elapsed(), status(&change), get(&change, "done")));
    }
    assert_eq!(
        told,
        [
            (0, ACTIVE.to_owned(), JsValue::FALSE),
            (5_000, ACTIVE.to_owned(), JsValue::FALSE),
            (9_500, ACTIVE.to_owned(), JsValue::FALSE),
            (16_250, COMPLETED.to_owned(), JsValue::TRUE),
        ]
    );
    assert_eq!(host.times(), "[0,2000,5000,9500,16250]");
    assert_eq!(
        next(&watch).await.unwrap(),
        JsValue::UNDEFINED,
        "and stays over"
    );
    assert_eq!(host.count(), 5);
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn a_job_that_has_ended_is_told_at_once() {
    for end in ["completed", "archived", "failed"] {
        let host = host(&[&format!("\"{end}\"")]);
        let change = next(&watching(&host, "{}")).await.unwrap();
        assert_eq!(get(&change, "done"), true);
        assert_eq!(host.count(), 1);
        assert_eq!(host.elapsed(), 0);
    }
}

#[wasm_bindgen_test]
async fn an_unknown_status_is_told_and_slows_the_looks_down() {
    let host = host(&[r#""queued""#, r#""queued""#, "null", COMPLETED]);
    let watch = watching(&host, "{}");
    for (expected, done) in [("\"queued\"", false), ("null", false), (COMPLETED, true)] {
        let change = next(&watch).await.unwrap();
        assert_eq!(status(&change), expected);
        assert_eq!(get(&change, "done"), done);
    }
    assert_eq!(host.times(), "[0,5000,10000,15000]");
}

#[wasm_bindgen_test]
async fn the_scripted_servers_hint_is_not_undercut() {
    let hint = r#"{"status":200,"headers":{"retry-after":"20"},"json":{"status":"active"}}"#;
    let host = host(&[hint, BUSY, COMPLETED]);
    let watch = watching(&host, "{}");
    next(&watch).await.unwrap();
    next(&watch).await.unwrap();
    assert_eq!(host.times(), "[0,20000,23000]");
}

#[wasm_bindgen_test]
async fn the_deadline_gives_the_job_as_last_seen() {
    let host = host(&[ACTIVE, ACTIVE, ACTIVE, ACTIVE]);
    let watch = watching(&host, r#"{"timeout":6000}"#);
    next(&watch).await.unwrap();
    let fault = next(&watch).await.unwrap_err();
    assert_json(
        &part(&fault, &["kind", "message"]),
        r#"{"kind":"jobWaitTimeout","message":"the job was not finished in time"}"#,
    );
    assert_eq!(status(&fault), ACTIVE);
    // The last look is at the deadline itself.
    assert_eq!(host.times(), "[0,2000,5000,6000]");
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn the_deadline_comes_also_when_the_scripted_server_never_answers() {
    let host = host(&[
        r#"{"stall":"head","deaf":true}"#,
        r#"{"stall":"head","deaf":true}"#,
    ]);
    let fault = next(&watching(&host, r#"{"timeout":10000}"#))
        .await
        .unwrap_err();
    assert_json(
        &part(&fault, &["kind", "job"]),
        r#"{"kind":"jobWaitTimeout","job":null}"#,
    );
    assert!(host.elapsed() <= 11_000, "at {}", host.elapsed());
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn looks_that_fail_are_passed_over_until_there_are_5_in_a_row() {
    let host = host(&[
        BUSY,
        r#"{"broken":"reset"}"#,
        BUSY,
        BUSY,
        ACTIVE,
        BUSY,
        BUSY,
        BUSY,
        BUSY,
        BUSY,
    ]);
    let watch = watching(&host, "{}");
    let change = next(&watch).await.unwrap();
    assert_eq!(status(&change), ACTIVE);
    let fault = next(&watch).await.unwrap_err();
    assert_json(
        &part(&fault, &["kind", "status"]),
        r#"{"kind":"api","status":503}"#,
    );
    assert_eq!(host.count(), 10);
}

#[wasm_bindgen_test]
async fn a_failure_that_does_not_pass_ends_the_watch() {
    for look in [
        r#"{"status":404,"json":{"error":"no such job"}}"#,
        r#"{"status":200,"text":"<html>"}"#,
    ] {
        let host = host(&[ACTIVE, look, COMPLETED]);
        let watch = watching(&host, "{}");
        next(&watch).await.unwrap();
        let fault = next(&watch).await.unwrap_err();
        assert_ne!(printed(&get(&fault, "kind")), "undefined");
        assert_eq!(host.times(), "[0,2000]");
    }
}

#[wasm_bindgen_test]
async fn a_watch_is_taken_back_in_a_wait_or_a_look() {
    for (looks, ms) in [
        ([ACTIVE, ACTIVE], 1_200),
        ([ACTIVE, r#"{"stall":"head","deaf":true}"#], 2_600),
        (
            [ACTIVE, r#"{"status":200,"stall":"body","deaf":true}"#],
            2_600,
        ),
    ] {
        let host = host(&looks);
        let watch = watching(&host, "{}");
        next(&watch).await.unwrap();
        let options = host.signal(Some(ms), &"seen enough".into());
        let reason = JsFuture::from(watch.next(options)).await.unwrap_err();
        assert_eq!(reason, "seen enough");
        assert_eq!(host.elapsed(), ms);
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn a_watch_takes_in_what_it_is_told() {
    let host = host(&[COMPLETED]);
    let watch = watching(&host, r#"{"timeout":5000}"#);
    let active = json(r#"{"id":"j1","status":"active"}"#);
    let change = watch.told(&active).unwrap();
    assert_eq!(status(&change), ACTIVE);
    assert_eq!(get(&change, "done"), false);
    assert_eq!(
        watch.told(&active).unwrap(),
        JsValue::UNDEFINED,
        "no news is not told"
    );
    let fault = watch.told(&json(r#"{"status":7}"#)).unwrap_err();
    assert_json(
        &part(&fault, &["kind", "where"]),
        r#"{"kind":"decode","where":"status"}"#,
    );
    // What it has been told counts as two looks where it goes on by itself.
    assert_eq!(status(&watch.expired()), ACTIVE);
    let change = next(&watch).await.unwrap();
    assert_eq!(status(&change), COMPLETED);
    assert_eq!(host.times(), "[3000]");
    assert_eq!(watch.left().to_string(), "2000");
}

#[wasm_bindgen_test]
fn a_watch_over_nothing_is_refused() {
    let host = FakeHost::new([]);
    for (id, options, field, rule) in [
        (r#"{"id":""}"#, "{}", "id", "not-empty"),
        (r#"{"id":".."}"#, "{}", "id", "not-dot-segment"),
        ("{}", "{}", "id", "required"),
        (
            r#"{"id":"j1"}"#,
            r#"{"timeout":0}"#,
            "timeout",
            "milliseconds",
        ),
    ] {
        let fault = host.engine().watch(json(id), json(options)).err().unwrap();
        assert_json(
            &part(&fault, &["kind", "field", "rule"]),
            &format!(r#"{{"kind":"validation","field":"{field}","rule":"{rule}"}}"#),
        );
    }
    assert_eq!(host.count(), 0);
}
