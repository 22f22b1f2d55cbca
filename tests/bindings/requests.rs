//! What is sent, and what a success comes to.

use crate::fake_host::{
    FakeHost, KEY, Observer, TOKEN, assert_json, call, get, get_job, json, part, printed, with,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Headers;

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;
const JOB_PAGE: &str = r#"{"status":200,"json":{"jobs":[{"id":"j1"}]}}"#;
const EMPTY_PAGE: &str = r#"{"status":200,"json":{"totals":{},"views":[],"hasMore":false}}"#;

#[wasm_bindgen_test]
async fn a_job_is_read_by_a_get_without_a_body() {
    let host = FakeHost::new([OK]);
    get_job(&host.engine(), "{}").await.unwrap();
    assert_json(
        &host.requests(),
        &format!(
            r#"[{{
                "method": "GET",
                "url": "https://gate.example/v2/agent/acme/job/j1",
                "headers": {{ "accept": "application/json", "authorization": "Bearer {TOKEN}" }},
                "redirect": "manual",
                "body": null,
                "at": 0
            }}]"#
        ),
    );
}

#[wasm_bindgen_test]
async fn a_job_is_created_by_a_post_of_json() {
    let host = FakeHost::new([r#"{"status":201,"json":{"id":"j1"}}"#]);
    let prompt = r#"{"prompt":"Say \"é\"\n"}"#;
    call(&host.engine(), "agentJobs.create", prompt, &json("{}"))
        .await
        .unwrap();
    assert_json(
        &host.requests(),
        &format!(
            r#"[{{
                "method": "POST",
                "url": "https://gate.example/v2/agent/acme/job",
                "headers": {{
                    "accept": "application/json",
                    "authorization": "Bearer {TOKEN}",
                    "content-type": "application/json"
                }},
                "redirect": "manual",
                "body": "{{\"prompt\":\"Say \\\"é\\\"\\n\"}}",
                "at": 0
            }}]"#
        ),
    );
}

#[wasm_bindgen_test]
async fn each_operation_has_its_own_address() {
    for (operation, params, answer, method, target) in [
        (
            "agentJobs.create",
            r#"{"prompt":"p"}"#,
            OK,
            "POST",
            "/v2/agent/acme/job",
        ),
        (
            "agentJobs.get",
            r#"{"id":"j1"}"#,
            OK,
            "GET",
            "/v2/agent/acme/job/j1",
        ),
        (
            "agentJobs.sendMessage",
            r#"{"id":"j1","prompt":"p"}"#,
            OK,
            "POST",
            "/v2/agent/acme/job/j1/message",
        ),
        (
            "agentJobs.list",
            r#"{"limit":7,"cursor":"a/b+c="}"#,
            JOB_PAGE,
            "GET",
            "/v2/agent/acme/jobs?limit=7&cursor=a%2Fb%2Bc%3D",
        ),
        (
            "agentJobs.list",
            "{}",
            JOB_PAGE,
            "GET",
            "/v2/agent/acme/jobs",
        ),
        (
            "analytics.views",
            r#"{"dateFrom":"2024-01-01","dateTo":"2024-01-02T10:00:00+02:00","limit":7,"offset":14}"#,
            EMPTY_PAGE,
            "GET",
            "/v1/analytics/acme/views?dateFrom=2024-01-01&dateTo=2024-01-02T10%3A00%3A00%2B02%3A00&limit=7&offset=14",
        ),
        (
            "analytics.views",
            "{}",
            EMPTY_PAGE,
            "GET",
            "/v1/analytics/acme/views",
        ),
    ] {
        let host = FakeHost::new([answer]);
        call(&host.engine(), operation, params, &json("{}"))
            .await
            .unwrap();
        assert_eq!(host.request(0, "method"), format!("\"{method}\""));
        assert_eq!(
            host.request(0, "url"),
            format!("\"https://gate.example{target}\"")
        );
    }
}

#[wasm_bindgen_test]
async fn an_id_stays_one_segment_of_the_path() {
    for (id, segment) in [
        ("a/../b?x=1#y", "a%2F..%2Fb%3Fx%3D1%23y"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        ("é 😀", "%C3%A9%20%F0%9F%98%80"),
        (r"..\\..", "..%5C.."),
    ] {
        let host = FakeHost::new([OK]);
        let params = format!(r#"{{"id":"{id}"}}"#);
        call(&host.engine(), "agentJobs.get", &params, &json("{}"))
            .await
            .unwrap();
        let url = format!("\"https://gate.example/v2/agent/acme/job/{segment}\"");
        assert_eq!(host.request(0, "url"), url, "{id}");
    }
}

#[wasm_bindgen_test]
async fn the_platform_itself_is_asked_with_the_admin_key() {
    let host = FakeHost::new([OK, OK]);
    for (base, address) in [
        ("", "https://api.mintlify.com"),
        (
            r#","baseUrl":"http://127.0.0.1:8788/under/here/""#,
            "http://127.0.0.1:8788/under/here",
        ),
    ] {
        let options = format!(r#"{{"projectId":"acme","adminKey":"{KEY}"{base}}}"#);
        let engine = host.engine_of(&options).unwrap();
        get_job(&engine, "{}").await.unwrap();
        let at = host.count() - 1;
        assert_eq!(
            host.request(at, "url"),
            format!("\"{address}/v2/agent/acme/job/j1\"")
        );
        assert!(
            host.request(at, "headers")
                .contains(&format!("\"Bearer {KEY}\""))
        );
    }
}

#[wasm_bindgen_test]
async fn own_headers_are_sent_and_replace_none_that_the_request_needs() {
    let host = FakeHost::new([OK]);
    let headers = Headers::new().unwrap();
    for (name, value) in [
        ("x-own", "1"),
        ("authorization", "Basic eA=="),
        ("accept", "text/html"),
    ] {
        headers.set(name, value).unwrap();
    }
    let options = with(&json(r#"{"idempotencyKey":"once-1"}"#), "headers", &headers);
    call(
        &host.engine(),
        "agentJobs.create",
        r#"{"prompt":"p"}"#,
        &options,
    )
    .await
    .unwrap();
    let sent = format!(
        r#"{{"accept":"application/json","authorization":"Bearer {TOKEN}","content-type":"application/json","idempotency-key":"once-1","x-own":"1"}}"#
    );
    assert_eq!(host.request(0, "headers"), sent);
    assert_eq!(
        headers.get("authorization").unwrap().unwrap(),
        "Basic eA==",
        "the caller's own stay"
    );
}

#[wasm_bindgen_test]
async fn a_success_is_data_and_the_response_that_carried_it() {
    for status in [200, 201, 206, 299] {
        let host = FakeHost::new([format!(
            r#"{{"status":{status},"json":{{"id":"j1","status":"odd","source":{{"ref":null}},"more":[1]}}}}"#
        )
        .as_str()]);
        let answer = get_job(&host.engine(), "{}").await.unwrap();
        assert_json(
            &answer,
            &format!(
                r#"{{
                    "data": {{
                        "id": "j1", "status": "odd", "source": {{ "repository": null, "ref": null }},
                        "model": null, "prLink": null, "createdAt": null, "archivedAt": null
                    }},
                    "response": "response {status}, read true"
                }}"#
            ),
        );
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn a_request_is_described_as_it_would_be_sent_and_is_not_sent() {
    let host = FakeHost::new([OK]);
    let engine = host.engine();
    let (name, params) = ("agentJobs.create", r#"{"prompt":"p"}"#);
    let options = json(r#"{"idempotencyKey":"once-1"}"#);
    let described = engine.request(name, json(params), options.clone()).unwrap();
    assert_eq!(host.count(), 0);
    call(&engine, name, params, &options).await.unwrap();
    let sent = js_sys::Array::from(&host.requests()).get(0);
    let members = ["method", "url", "headers", "body"];
    assert_eq!(printed(&described), printed(&part(&sent, &members)));

    let read = engine
        .request("agentJobs.get", json(r#"{"id":"j1"}"#), json("{}"))
        .unwrap();
    assert_eq!(get(&read, "body"), JsValue::NULL);
    let error = engine
        .request("agentJobs.get", json("{}"), json("{}"))
        .unwrap_err();
    assert_json(
        &part(&error, &["kind", "field"]),
        r#"{"kind":"validation","field":"id"}"#,
    );
}

#[wasm_bindgen_test]
async fn an_observer_sees_every_attempt() {
    let host = FakeHost::new([r#"{"status":503,"json":{"error":"busy"}}"#, OK]);
    let observer = Observer::new();
    let options = with(&json("{}"), "observer", &observer.listener());
    call(&host.engine(), "agentJobs.get", r#"{"id":"j1"}"#, &options)
        .await
        .unwrap();
    assert_json(
        &observer.events(),
        r#"[
            ["request", "GET https://gate.example/v2/agent/acme/job/j1"],
            ["response", 503],
            ["retry", "api: 503 busy", 500],
            ["request", "GET https://gate.example/v2/agent/acme/job/j1"],
            ["response", 200]
        ]"#,
    );
}
