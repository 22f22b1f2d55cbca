//! What goes wrong, as plain objects.

use crate::fake_host::{
    FakeHost, KEY, TOKEN, assert_json, call, everything, get, get_job, json, part, printed, with,
};
use js_sys::Object;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

/// Once, so that the first answer is the result.
const ONCE: &str = r#"{"maxRetries":0}"#;

#[wasm_bindgen_test]
async fn a_bad_prompt_or_id_is_refused_before_anything_is_sent() {
    refused(&[
        (
            "agentJobs.create",
            "{}",
            "prompt",
            "required",
            "is required",
        ),
        (
            "agentJobs.create",
            "null",
            "prompt",
            "required",
            "is required",
        ),
        (
            "agentJobs.create",
            r#"{"prompt":""}"#,
            "prompt",
            "not-empty",
            "must have at least one character, found empty text",
        ),
        (
            "agentJobs.create",
            r#"{"prompt":7}"#,
            "prompt",
            "text",
            "must be text, found a number",
        ),
        (
            "agentJobs.create",
            r#"{"prompt":null}"#,
            "prompt",
            "text",
            "must be text, found null",
        ),
        (
            "agentJobs.get",
            r#"{"id":""}"#,
            "id",
            "not-empty",
            "must have at least one character, found empty text",
        ),
        (
            "agentJobs.get",
            r#"{"id":".."}"#,
            "id",
            "not-dot-segment",
            r#"must not be "." or "..", found "..""#,
        ),
        (
            "agentJobs.get",
            r#"{"id":["j1"]}"#,
            "id",
            "text",
            "must be text, found an array",
        ),
        (
            "agentJobs.sendMessage",
            r#"{"id":"j1"}"#,
            "prompt",
            "required",
            "is required",
        ),
        (
            "agentJobs.cancel",
            "{}",
            "operation",
            "unknown",
            "is not a parameter of this operation",
        ),
    ])
    .await;
}

#[wasm_bindgen_test]
async fn a_parameter_that_the_operation_does_not_have_is_refused_before_anything_is_sent() {
    refused(&[
        (
            "analytics.views",
            r#"{"limit":0,"lastWeek":true}"#,
            "lastWeek",
            "unknown",
            "is not a parameter of this operation",
        ),
        (
            "agentJobs.create",
            r#"{"prompt":"x","x":null}"#,
            "x",
            "unknown",
            "is not a parameter of this operation",
        ),
    ])
    .await;
    // Also where the object has no prototype.
    let host = FakeHost::new([]);
    let bare: Object = Object::create(JsValue::NULL.unchecked_ref());
    let params = Object::assign(&bare, json(r#"{"lastWeek":true}"#).unchecked_ref());
    let refusal = host
        .engine()
        .call("analytics.views", params.into(), json("{}"));
    assert_json(
        &part(&refusal.unwrap_err(), &["kind", "field", "rule"]),
        r#"{"kind":"validation","field":"lastWeek","rule":"unknown"}"#,
    );
    assert_eq!(host.count(), 0);
}

#[wasm_bindgen_test]
fn what_is_undefined_counts_as_left_out_whatever_its_name() {
    let host = FakeHost::new([]);
    let params = with(&json(r#"{"limit":5}"#), "lastWeek", &JsValue::UNDEFINED);
    let request = host
        .engine()
        .request("analytics.views", params, json("{}"))
        .unwrap();
    let url = "https://gate.example/v1/analytics/acme/views?limit=5";
    assert_eq!(get(&request, "url"), url);
}

#[wasm_bindgen_test]
async fn a_bad_page_is_refused_before_anything_is_sent() {
    refused(&[
        (
            "analytics.views",
            r#"{"limit":251}"#,
            "limit",
            "page-size",
            "must be an integer from 1 to 250, found 251",
        ),
        (
            "analytics.views",
            r#"{"limit":"10"}"#,
            "limit",
            "page-size",
            "must be an integer from 1 to 250, found text",
        ),
        (
            "agentJobs.list",
            r#"{"limit":101}"#,
            "limit",
            "job-page-size",
            "must be an integer from 1 to 100, found 101",
        ),
        (
            "agentJobs.list",
            r#"{"cursor":null}"#,
            "cursor",
            "text",
            "must be text, found null",
        ),
        (
            "analytics.views",
            r#"{"offset":-1}"#,
            "offset",
            "offset",
            "must be an integer from 0 to 9007199254740991, found -1",
        ),
        (
            "analytics.views",
            r#"{"offset":0.5}"#,
            "offset",
            "offset",
            "must be an integer from 0 to 9007199254740991, found a number that is no exact integer",
        ),
        (
            "analytics.views",
            r#"{"page":0}"#,
            "page",
            "page",
            "must be an integer from 1 to 9007199254740991, found 0",
        ),
        (
            "analytics.views",
            r#"{"page":1,"offset":0}"#,
            "page",
            "not-with-offset",
            "must not stand together with offset",
        ),
    ])
    .await;
}

/// Checks calls, each with the field, the rule and the words by which it is refused.
async fn refused(calls: &[(&str, &str, &str, &str, &str)]) {
    for (operation, params, field, rule, words) in calls {
        let host = FakeHost::new([]);
        let fault = call(&host.engine(), operation, params, &json("{}"))
            .await
            .unwrap_err();
        let message = format!("{field} {words}").replace('"', "\\\"");
        assert_json(
            &fault,
            &format!(
                r#"{{"kind":"validation","field":"{field}","rule":"{rule}","message":"{message}"}}"#
            ),
        );
        assert_eq!(host.count(), 0, "{operation} {params}");
    }
}

#[wasm_bindgen_test]
async fn bad_dates_are_refused_before_anything_is_sent() {
    for (params, field, rule) in [
        (r#"{"dateFrom":"2024-02-30"}"#, "dateFrom", "calendar-date"),
        (r#"{"dateTo":"yesterday"}"#, "dateTo", "date-format"),
        (r#"{"dateTo":20240101}"#, "dateTo", "text"),
        (
            r#"{"dateFrom":"2024-01-02","dateTo":"2024-01-02"}"#,
            "dateFrom",
            "before-date-to",
        ),
    ] {
        let host = FakeHost::new([]);
        let fault = call(&host.engine(), "analytics.views", params, &json("{}"))
            .await
            .unwrap_err();
        assert_json(
            &part(&fault, &["kind", "field", "rule"]),
            &format!(r#"{{"kind":"validation","field":"{field}","rule":"{rule}"}}"#),
        );
        assert_eq!(host.count(), 0, "{params}");
    }
}

#[wasm_bindgen_test]
async fn bad_options_of_a_call_are_refused_before_anything_is_sent() {
    for (options, field, rule) in [
        (r#"{"timeout":0}"#, "timeout", "milliseconds"),
        (r#"{"timeout":2147483648}"#, "timeout", "milliseconds"),
        (r#"{"totalTimeout":1.5}"#, "totalTimeout", "milliseconds"),
        (r#"{"maxRetries":11}"#, "maxRetries", "retry-count"),
        (r#"{"maxRetries":-1}"#, "maxRetries", "retry-count"),
        (
            r#"{"idempotencyKey":"two words"}"#,
            "idempotencyKey",
            "idempotency-key",
        ),
        (
            r#"{"idempotencyKey":""}"#,
            "idempotencyKey",
            "idempotency-key",
        ),
    ] {
        let host = FakeHost::new([]);
        let fault = get_job(&host.engine(), options).await.unwrap_err();
        assert_json(
            &part(&fault, &["kind", "field", "rule"]),
            &format!(r#"{{"kind":"validation","field":"{field}","rule":"{rule}"}}"#),
        );
        assert_eq!(host.count(), 0, "{options}");
    }
}

#[wasm_bindgen_test]
fn an_engine_refuses_options_that_cannot_work_without_repeating_a_credential() {
    let host = FakeHost::new([]);
    for (options, field, rule) in [
        (
            r#""token":"secret-1","projectId":"acme""#,
            "baseUrl",
            "required",
        ),
        (
            r#""token":"secret-1","baseUrl":"https://x.example""#,
            "projectId",
            "required",
        ),
        (
            r#""baseUrl":"https://x.example","projectId":"acme""#,
            "token",
            "required",
        ),
        (
            r#""token":"secret-1","baseUrl":"gate.example","projectId":"acme""#,
            "baseUrl",
            "base-url",
        ),
        (
            r#""token":"secret-1","baseUrl":"https://u:secret-1@x.example","projectId":"acme""#,
            "baseUrl",
            "base-url",
        ),
        (
            r#""adminKey":"mint_secret-1","baseUrl":"http://x.example","projectId":"acme""#,
            "baseUrl",
            "secure-base-url",
        ),
        (
            r#""token":"secret-1\nx: y","baseUrl":"https://x.example","projectId":"acme""#,
            "token",
            "credential",
        ),
        (
            r#""token":"secret-1","baseUrl":"https://x.example","projectId":"..""#,
            "projectId",
            "not-dot-segment",
        ),
        (
            r#""adminKey":"mint_dsc_secret-1","projectId":"acme""#,
            "adminKey",
            "admin-key",
        ),
        (
            r#""adminKey":"mint_secret-1 ","projectId":"acme""#,
            "adminKey",
            "admin-key",
        ),
    ] {
        let fault = host.engine_of(&format!("{{{options}}}")).err().unwrap();
        assert_json(
            &part(&fault, &["kind", "field", "rule"]),
            &format!(r#"{{"kind":"validation","field":"{field}","rule":"{rule}"}}"#),
        );
        assert!(
            !everything(&fault).contains("secret-1"),
            "{}",
            printed(&fault)
        );
    }
}

#[wasm_bindgen_test]
async fn a_refusal_carries_the_scripted_servers_own_words() {
    for (answer, expected) in [
        (
            r#"{"status":404,"headers":{"x-request-id":"r-1"},"json":{"error":"no such job"}}"#,
            r#"{"message":"404 no such job","status":404,"details":[],"code":null,
                "requestId":"r-1","retryAfter":null,"body":{"error":"no such job"}}"#,
        ),
        (
            r#"{"status":500,"json":{"error":"bad","details":[{"message":"one"},{"message":"two"}]}}"#,
            r#"{"message":"500 bad","status":500,"details":["one","two"],"code":null,
                "requestId":null,"retryAfter":null,
                "body":{"error":"bad","details":[{"message":"one"},{"message":"two"}]}}"#,
        ),
        (
            r#"{"status":429,"headers":{"content-type":"application/problem+json","retry-after":"1800"},
                "json":{"type":"/problems/limit","title":"Limit","detail":"too many","errors":[{"detail":"d"}]}}"#,
            r#"{"message":"429 too many","status":429,"details":["d"],"code":"/problems/limit",
                "requestId":null,"retryAfter":1800,
                "body":{"type":"/problems/limit","title":"Limit","detail":"too many","errors":[{"detail":"d"}]}}"#,
        ),
        (
            r#"{"status":502,"text":"<h1>Bad Gateway</h1>"}"#,
            r#"{"message":"502 bad gateway","status":502,"details":[],"code":null,
                "requestId":null,"retryAfter":null,"body":null}"#,
        ),
        (
            r#"{"status":401}"#,
            r#"{"message":"401 unauthorized","status":401,"details":[],"code":null,
                "requestId":null,"retryAfter":null,"body":null}"#,
        ),
        (
            r#"{"status":418,"json":"short and stout"}"#,
            r#"{"message":"418 the request was refused","status":418,"details":[],"code":null,
                "requestId":null,"retryAfter":null,"body":"short and stout"}"#,
        ),
        (
            r#"{"status":302,"headers":{"location":"https://elsewhere.example/"}}"#,
            r#"{"message":"302 a redirect, which is not followed","status":302,"details":[],
                "code":null,"requestId":null,"retryAfter":null,"body":null}"#,
        ),
    ] {
        let host = FakeHost::new([answer]);
        let fault = get_job(&host.engine(), ONCE).await.unwrap_err();
        let members = [
            "message",
            "status",
            "details",
            "code",
            "requestId",
            "retryAfter",
            "body",
        ];
        assert_json(&part(&fault, &members), expected);
        assert_eq!(get(&fault, "kind"), "api");
        assert_eq!(host.count(), 1);
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn a_fault_carries_the_answers_headers() {
    let host = FakeHost::new([
        r#"{"status":403,"headers":{"x-request-id":"r-2","ratelimit":"\"a\";r=3"},"json":{"error":"no"}}"#,
    ]);
    let fault = get_job(&host.engine(), ONCE).await.unwrap_err();
    let headers: web_sys::Headers = get(&fault, "headers").into();
    assert_eq!(headers.get("RateLimit").unwrap().unwrap(), "\"a\";r=3");
}

#[wasm_bindgen_test]
async fn a_refusal_is_one_even_if_its_body_is_half_a_document() {
    let host = FakeHost::new([r#"{"status":400,"text":"{\"error\":\"half"}"#]);
    let fault = get_job(&host.engine(), ONCE).await.unwrap_err();
    assert_json(
        &part(&fault, &["kind", "message", "body"]),
        r#"{"kind":"api","message":"400 bad request","body":null}"#,
    );
}

#[wasm_bindgen_test]
async fn a_success_that_is_not_what_was_promised_names_the_place() {
    for (operation, answer, place, what) in [
        ("agentJobs.get", r#""text":"{\"id\":""#, "", "must be JSON"),
        ("agentJobs.get", r#""text":"""#, "", "must be JSON"),
        ("agentJobs.get", r#""text":"<html>""#, "", "must be JSON"),
        (
            "agentJobs.get",
            r#""json":null"#,
            "",
            "must be an object, found null",
        ),
        (
            "agentJobs.get",
            r#""json":[]"#,
            "",
            "must be an object, found an array",
        ),
        (
            "agentJobs.get",
            r#""json":{"id":7}"#,
            "id",
            "must be text, found a number",
        ),
        (
            "agentJobs.get",
            r#""json":{"source":{"ref":true}}"#,
            "source.ref",
            "must be text, found a boolean",
        ),
        (
            "analytics.views",
            r#""json":{}"#,
            "totals",
            "must be an object, found nothing",
        ),
        (
            "analytics.views",
            r#""json":{"totals":{},"views":{},"hasMore":false}"#,
            "views",
            "must be an array, found an object",
        ),
        (
            "analytics.views",
            r#""json":{"totals":{},"views":[{"human":1},{"human":-1}],"hasMore":false}"#,
            "views[1].human",
            "must be an integer from 0 to 9007199254740991, found a number",
        ),
        (
            "analytics.views",
            r#""json":{"totals":{"ai":"9"},"views":[],"hasMore":false}"#,
            "totals.ai",
            "must be an integer from 0 to 9007199254740991, found text",
        ),
        (
            "analytics.views",
            r#""json":{"totals":{},"views":[],"hasMore":"no"}"#,
            "hasMore",
            "must be true or false, found text",
        ),
    ] {
        let host = FakeHost::new([format!(
            r#"{{"status":200,"headers":{{"x-request-id":"r-3","content-type":"application/json"}},{answer}}}"#
        )
        .as_str()]);
        let params = if operation == "analytics.views" {
            "{}"
        } else {
            r#"{"id":"j1"}"#
        };
        let fault = call(&host.engine(), operation, params, &json("{}"))
            .await
            .unwrap_err();
        let subject = if place.is_empty() { "the body" } else { place };
        assert_json(
            &fault,
            &format!(
                r#"{{
                    "kind": "decode", "message": "{subject} {what}", "where": "{place}", "what": "{what}",
                    "requestId": "r-3",
                    "headers": {{ "content-type": "application/json", "x-request-id": "r-3" }}
                }}"#
            ),
        );
        assert_eq!(host.count(), 1, "a success is not asked for again");
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn a_broken_connection_keeps_the_hosts_own_error() {
    for (answer, cause) in [
        (
            r#"{"broken":"connection reset"}"#,
            "TypeError: connection reset",
        ),
        (
            r#"{"thrown":"no fetch today"}"#,
            "RangeError: no fetch today",
        ),
    ] {
        let host = FakeHost::new([answer]);
        let fault = get_job(&host.engine(), ONCE).await.unwrap_err();
        assert_json(
            &fault,
            &format!(
                r#"{{"kind":"connection","message":"no answer: the connection failed or broke","cause":"{cause}"}}"#
            ),
        );
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn no_fault_repeats_a_credential() {
    let key = format!(r#"{{"projectId":"acme","adminKey":"{KEY}"}}"#);
    for answer in [
        r#"{"status":401,"json":{"error":"unauthorized"}}"#,
        r#"{"status":200,"text":"<html>"}"#,
        r#"{"broken":"connection reset"}"#,
        r#"{"stall":"head"}"#,
    ] {
        for direct in [true, false] {
            let host = FakeHost::new([answer]);
            let engine = if direct {
                host.engine_of(&key).unwrap()
            } else {
                host.engine()
            };
            let fault = get_job(&engine, ONCE).await.unwrap_err();
            assert_eq!(host.count(), 1);
            let all = everything(&fault);
            assert!(all.contains("message"), "{all}");
            assert!(!all.contains(KEY) && !all.contains(TOKEN), "{all}");
        }
    }
}
