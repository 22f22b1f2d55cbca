//! Runs every example that the client's documentation includes.

mod call_options;
mod caller_stats;
mod client_options;
mod conversation;
mod conversations;
mod create;
mod cursor;
mod errors;
mod feedback;
mod feedback_by_page;
mod force;
mod gateway;
mod get;
mod idempotency_key;
mod list;
mod list_options;
mod overview;
mod page_stream;
mod pages;
mod platform;
mod platform_at;
mod record;
mod row_stream;
mod rows;
mod searches;
mod send_message;
mod views;
mod visitors;
mod wait;
mod wait_options;
mod watch;
mod watch_stream;
mod watch_timeout;
mod with_fetch;

use crate::fake_host::{FakeHost, KEY, TOKEN, get_job};
use js_sys::{Object, Reflect};
use quillgate::client::{AbortSignal, Error, IdempotencyKey};
use quillgate::{Count, CreateAgentJob, JobStatus, ListPageViews, Millis, Prompt};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

const JOB: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;
const DONE: &str = r#"{"status":200,"json":{"id":"j1","status":"completed","prLink":"https://git.example/pull/7"}}"#;
const LINK: &str = "https://git.example/pull/7";
const MORE_VIEWS: &str = r#"{"status":200,"json":{"totals":{},"hasMore":true,"views":[
    {"path":"/a","human":1,"ai":5,"total":6},{"path":"/b","human":3,"ai":1,"total":4}]}}"#;
const LAST_VIEWS: &str = r#"{"status":200,"json":{"totals":{},"hasMore":false,"views":[
    {"path":"/c","human":0,"ai":2,"total":2}]}}"#;

/// A signal that never aborts.
fn inactive_signal(host: &FakeHost) -> AbortSignal {
    host.signal(None, &JsValue::UNDEFINED)
}

#[wasm_bindgen_test]
async fn a_client_connects_to_a_gateway_or_the_platform() {
    let host = FakeHost::new([JOB, JOB, JOB]);
    for (at, client, url, credential) in [
        (0, gateway::connect(TOKEN), "https://gate.example", TOKEN),
        (1, platform::connect(KEY), "https://api.mintlify.com", KEY),
        (2, platform_at::connect(KEY), "http://127.0.0.1:8788", KEY),
    ] {
        let client = client.unwrap().with_fetch(host.fetch());
        get_job(&client).await.unwrap();
        let sent_to = host.request(at, "url");
        assert_eq!(sent_to, format!("\"{url}/v2/agent/acme/job/j1\""));
        assert!(host.request(at, "headers").contains(credential));
    }
}

#[wasm_bindgen_test]
async fn the_overview_creates_a_job_waits_for_it_and_counts_views() {
    let host = FakeHost::new([JOB, JOB, DONE, MORE_VIEWS, LAST_VIEWS]);
    let client = overview::connect("https://gate.example", TOKEN).unwrap();
    let client = client.with_fetch(host.fetch());
    let link = overview::document_endpoint(&client).await.unwrap();
    assert_eq!(link.as_deref(), Some(LINK));
    assert_eq!(overview::count_views(&client).await, Ok(12));
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_service_binding_sends_requests() {
    let host = FakeHost::new([JOB]);
    let binding = Object::new();
    Reflect::set(&binding, &"fetch".into(), &host.fetch()).unwrap();
    let client = gateway::connect(TOKEN).unwrap();
    let client = with_fetch::through(client, &binding).unwrap();
    get_job(&client).await.unwrap();
    assert_eq!(host.count(), 1);
    assert!(with_fetch::through(client, &JsValue::from(7)).is_err());
}

#[wasm_bindgen_test]
async fn the_options_of_a_client_apply_to_its_calls() {
    let stall = r#"{"stall":"head"}"#;
    let host = FakeHost::new([JOB, stall, stall, stall]);
    let client = client_options::within(host.client(), inactive_signal(&host), "00-1-2-01");
    get_job(&client).await.unwrap();
    assert!(
        host.request(0, "headers")
            .contains(r#""traceparent":"00-1-2-01""#)
    );
    let error = get_job(&client).await.unwrap_err();
    // The third attempt gets the rest of the total timeout of 25 s.
    assert_eq!(error, Error::Timeout(Millis(3500)));
    assert_eq!(host.times(), "[0,0,10500,21500]");
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn jobs_are_created_read_and_followed_up() {
    let host = FakeHost::new([JOB, DONE, JOB, JOB, JOB]);
    let client = host.client();
    let job = create::document_endpoint(&client).await.unwrap();
    assert_eq!(job.id.as_deref(), Some("j1"));
    let link = get::find_pull_request(&client, "j1").await.unwrap();
    assert_eq!(link.as_deref(), Some(LINK));
    send_message::ask_for_images(&client, "j1").await.unwrap();
    assert_eq!(
        host.request(2, "body"),
        r#""{\"prompt\":\"Also the images\"}""#
    );
    idempotency_key::announce(&client, "2.4").await.unwrap();
    let headers = host.request(3, "headers");
    assert!(headers.contains(r#""idempotency-key":"changelog-2.4""#));
    let signal = inactive_signal(&host);
    call_options::read_job(&client, "j1", signal).await.unwrap();
    assert!(
        host.request(4, "headers")
            .contains(r#""x-purpose":"dashboard""#)
    );
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_job_with_an_unknown_outcome_is_forced() {
    let unknown = r#"{"status":409,"json":{"type":"/problems/outcome-unknown"}}"#;
    let host = FakeHost::new([unknown, JOB]);
    let create = CreateAgentJob::new(Prompt::new("p").unwrap());
    let key = IdempotencyKey::new("once-1").unwrap();
    let job = force::create(&host.client(), create, key).await.unwrap();
    assert_eq!(job.status, Some(JobStatus::Active));
    let headers = host.request(1, "headers");
    assert!(headers.contains(r#""idempotency-key":"once-1","idempotency-retry":"force""#));
}

#[wasm_bindgen_test]
async fn errors_are_described_by_kind() {
    let broken = r#"{"broken":"reset"}"#;
    let host = FakeHost::new([JOB, r#"{"status":404}"#, broken, broken, broken]);
    let client = host.client();
    for expected in [
        "active",
        "no such job",
        "not reached: TypeError: reset (object)",
    ] {
        assert_eq!(errors::describe(&client, "j1").await.unwrap(), expected);
    }
    let error = errors::describe(&client, "").await.unwrap_err();
    assert!(matches!(error, Error::Validation(_)));
}

#[wasm_bindgen_test]
async fn jobs_are_watched_and_waited_for() {
    let host = FakeHost::new([JOB, DONE]);
    let statuses = watch::follow(&host.client(), "j1").await.unwrap();
    assert_eq!(statuses, [JobStatus::Active, JobStatus::Completed]);

    let host = FakeHost::new([JOB, DONE]);
    let signal = inactive_signal(&host);
    let last = watch_timeout::follow(&host.client(), "j1", signal).await;
    assert_eq!(last, Ok(JobStatus::Completed));
    assert!(host.request(1, "headers").contains("dashboard"));
    host.assert_idle();

    let host = FakeHost::new([JOB, DONE]);
    let changes = watch_stream::changes(&host.client(), "j1").await.unwrap();
    assert_eq!(changes.len(), 2);
    assert!(changes[1].is_final);

    let host = FakeHost::new([JOB, DONE]);
    let link = wait::pull_request(&host.client(), "j1").await.unwrap();
    assert_eq!(link.as_deref(), Some(LINK));

    let host = FakeHost::new([JOB; 40]);
    assert_eq!(wait::pull_request(&host.client(), "j1").await, Ok(None));
    assert_eq!(u64::from(host.elapsed()), Millis::from_seconds(600).0);

    let host = FakeHost::new([JOB, DONE]);
    let signal = inactive_signal(&host);
    let job = wait_options::finish(&host.client(), "j1", signal).await;
    assert_eq!(job.unwrap().pr_link.as_deref(), Some(LINK));
    assert!(host.request(1, "headers").contains("release"));
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn jobs_are_listed() {
    let jobs = r#"{"status":200,"json":{"jobs":[{"id":"j1"},{"id":"j2","prLink":"https://x"}]}}"#;
    let host = FakeHost::new([jobs, jobs]);
    let client = host.client();
    let newest = list::newest_jobs(&client).await.unwrap();
    assert_eq!(newest.len(), 2);
    assert_eq!(host.target(0), "/v2/agent/acme/jobs?limit=5");
    let links = row_stream::pull_requests(&client).await.unwrap();
    assert_eq!(links, ["https://x"]);
}

#[wasm_bindgen_test]
async fn a_job_record_is_read() {
    let record = r#"{"status":200,"json":{"job":{"id":"j1","createdBy":"ana"},"prompt":"p",
        "messages":[{"author":"ben"}],"changes":[]}}"#;
    let host = FakeHost::new([record]);
    let authors = record::list_authors(&host.client(), "j1").await.unwrap();
    assert_eq!(authors, ["ana", "ben"]);
    assert_eq!(host.target(0), "/v2/agent/acme/job/j1/record");
}

#[wasm_bindgen_test]
async fn page_views_are_read_by_page_by_row_and_from_a_cursor() {
    let host = FakeHost::new([LAST_VIEWS]);
    let page = views::october(&host.client()).await.unwrap();
    assert_eq!(page.views.len(), 1);
    let query = "?dateFrom=2026-10-01&dateTo=2026-11-01&limit=10&offset=0";
    assert_eq!(host.target(0), format!("/v1/analytics/acme/views{query}"));

    let both = [MORE_VIEWS, LAST_VIEWS];
    let host = FakeHost::new(both);
    assert_eq!(pages::rows_per_page(&host.client()).await.unwrap(), [2, 1]);

    let host = FakeHost::new(both);
    assert_eq!(
        rows::read_by_ai(&host.client()).await.unwrap(),
        ["/a", "/c"]
    );

    let host = FakeHost::new(both);
    let signal = inactive_signal(&host);
    let count = list_options::count_pages(&host.client(), signal).await;
    assert_eq!(count, Ok(3));
    assert!(host.request(1, "headers").contains("export"));
    host.assert_idle();

    let host = FakeHost::new(both);
    let client = host.client();
    let all = ListPageViews::default();
    let (views, rest) = cursor::some_views(&client, all).await.unwrap();
    assert_eq!(views.len(), 2);
    let (views, rest) = cursor::some_views(&client, rest.unwrap()).await.unwrap();
    assert_eq!((views.len(), rest), (1, None));
    assert!(host.target(1).ends_with("&limit=250&offset=250"));
}

#[wasm_bindgen_test]
async fn each_report_is_read() {
    let visitors = |more: bool| {
        format!(
            r#"{{"status":200,"json":{{"totals":{{}},"visitors":[{{"path":"/"}}],"hasMore":{more}}}}}"#
        )
    };
    let host = FakeHost::new([
        visitors(false).as_str(),
        &visitors(true),
        &visitors(false),
        r#"{"status":200,"json":{"hasMore":false,"feedback":[
            {"source":"contextual","comment":"unclear"},{"source":"agent","comment":"no"}]}}"#,
        r#"{"status":200,"json":{"hasMore":false,"feedback":[{"path":"/","thumbsUp":3}]}}"#,
        r#"{"status":200,"json":{"searches":[
            {"searchQuery":"jobs","topClickedPage":"/jobs"},{"searchQuery":"refund"}]}}"#,
        r#"{"status":200,"json":{"hasMore":false,"conversations":[{"query":"How?"}]}}"#,
        r#"{"status":200,"json":{"messages":[{"role":"user","content":"How?"}]}}"#,
        r#"{"status":200,"json":{"web":1,"total":6}}"#,
    ]);
    let client = host.client();
    assert_eq!(visitors::visited_pages(&client).await.unwrap().len(), 1);
    assert_eq!(page_stream::all_pages(&client).await.unwrap().len(), 2);
    assert_eq!(feedback::open_comments(&client).await.unwrap(), ["unclear"]);
    assert!(
        host.target(3)
            .contains("status=pending%2Cin_progress&limit=100")
    );
    let judged = feedback_by_page::judged_pages(&client).await.unwrap();
    assert_eq!(judged[0].thumbs_up.map(Count::get), Some(3));
    assert_eq!(searches::missing_pages(&client).await.unwrap(), ["refund"]);
    assert_eq!(conversations::questions(&client).await.unwrap(), ["How?"]);
    let thread = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let messages = conversation::messages(&client, thread).await.unwrap();
    assert_eq!(messages[0].content.as_deref(), Some("How?"));
    assert_eq!(caller_stats::count_questions(&client).await, Ok(Some(6)));
    host.assert_idle();
}
