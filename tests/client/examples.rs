//! Runs the examples that the client's documentation includes, except those for `fetch`.

mod archive_status;
mod archived_views;
mod automation;
mod begin_backfill;
mod caller_stats;
mod conversation;
mod conversations;
mod create;
mod daily_views;
mod delete_record;
mod deploy;
mod deployment;
mod deployments;
mod errors;
mod estimate_backfill;
mod export;
mod feedback;
mod feedback_by_page;
mod force;
mod gateway;
mod get;
mod host;
mod idempotency_key;
mod list;
mod next_request;
mod overview;
mod page_stream;
mod pages;
mod platform;
mod platform_at;
mod preview;
mod record;
mod request;
mod row_stream;
mod rows;
mod searches;
mod send_message;
mod send_with_response;
mod settings;
mod views;
mod visitors;
mod wait;
mod watch;
mod watch_deployment;
mod watch_stream;
mod watch_timeout;
mod webhook_url;

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::fake_host::{FakeHost, KEY, TOKEN, get_job};
use quillgate::{Client, Error};
use quillgate::{Count, JobStatus, ListPageViews};
use serde_json::json;

const JOB: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;
const DONE: &str = r#"{"status":200,"json":{"id":"j1","status":"completed","prLink":"https://git.example/pull/7"}}"#;
const LINK: &str = "https://git.example/pull/7";
const MORE_VIEWS: &str = r#"{"status":200,"json":{"totals":{},"hasMore":true,"views":[
    {"path":"/a","human":1,"ai":5,"total":6},{"path":"/b","human":3,"ai":1,"total":4}]}}"#;
const LAST_VIEWS: &str = r#"{"status":200,"json":{"totals":{},"hasMore":false,"views":[
    {"path":"/c","human":0,"ai":2,"total":2}]}}"#;

#[test]
fn a_client_connects_to_a_gateway_or_to_mintlify() {
    let other = "https://g.example";
    for (client, url) in [
        (gateway::connect(TOKEN), "https://gate.example"),
        (platform::connect(KEY), "https://api.mintlify.com"),
        (platform_at::connect(KEY), "http://127.0.0.1:8788"),
        (overview::connect(other, TOKEN), other),
    ] {
        let client = format!("{:?}", client.unwrap());
        assert!(client.contains(url), "{client}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_overview_creates_a_job_waits_for_it_and_counts_views() {
    let host = FakeHost::new([JOB, JOB, DONE, MORE_VIEWS, LAST_VIEWS]);
    let client = host.client();
    let link = overview::document_endpoint(&client).await.unwrap();
    assert_eq!(link.as_deref(), Some(LINK));
    assert_eq!(overview::count_views(&client).await, Ok(12));
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_host_can_count_requests() {
    let fake = FakeHost::new([JOB, JOB]);
    let (inner, count) = (fake.clone(), AtomicU32::new(0));
    let host = host::CountingHost { inner, count };
    let client: Client = fake.builder().host(host).build().unwrap();
    get_job(&client).send().await.unwrap();
    get_job(&client).send().await.unwrap();
    assert_eq!(fake.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_settings_of_a_client_apply_to_its_calls() {
    let stall = r#"{"stall":"head"}"#;
    let host = FakeHost::new([JOB, stall, stall, stall]);
    let client = settings::connect(TOKEN, host.clone()).unwrap();
    settings::read_job(&client, "j1").await.unwrap();
    let purpose = host.header(0, "x-purpose");
    assert_eq!(purpose.as_deref(), Some("dashboard"));
    let error = get_job(&client).send().await.unwrap_err();
    // The third attempt gets the rest of the total timeout of 25 s.
    assert_eq!(error, Error::Timeout(Duration::from_millis(3500)));
    assert_eq!(host.times(), [0, 0, 10_500, 21_500]);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn jobs_are_created_read_and_followed_up() {
    let host = FakeHost::new([JOB, DONE, JOB, JOB, JOB]);
    let client = host.client();
    let job = create::document_endpoint(&client).await.unwrap();
    assert_eq!(job.id, "j1");
    let link = get::find_pull_request(&client, "j1").await.unwrap();
    assert_eq!(link.as_deref(), Some(LINK));
    send_message::ask_for_images(&client, "j1").await.unwrap();
    assert_eq!(host.request(2, "body"), r#"{"prompt":"Also the images"}"#);
    idempotency_key::announce(&client, "2.4").await.unwrap();
    let key = host.header(3, "idempotency-key");
    assert_eq!(key.as_deref(), Some("changelog-2.4"));
    webhook_url::create_with_webhook(&client).await.unwrap();
    let url = host.header(4, "webhook-url");
    assert_eq!(url.as_deref(), Some("https://hooks.example/quillgate"));
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_job_with_an_unknown_outcome_is_forced() {
    let problem = r#"{"type":"/problems/outcome-unknown","outcome":"unknown"}"#;
    let unknown = &format!(r#"{{"status":409,"json":{problem}}}"#);
    let host = FakeHost::new([unknown, JOB]);
    let job = force::create(&host.client(), "p", "once-1").await.unwrap();
    assert_eq!(job.status, Some(JobStatus::Active));
    let key = host.header(1, "idempotency-key");
    assert_eq!(key.as_deref(), Some("once-1"));
    let retry = host.header(1, "idempotency-retry");
    assert_eq!(retry.as_deref(), Some("force"));
}

#[tokio::test(start_paused = true)]
async fn errors_are_described_by_kind() {
    let broken = r#"{"broken":"reset"}"#;
    let host = FakeHost::new([JOB, r#"{"status":404}"#, broken, broken, broken]);
    let client = host.client();
    for expected in [
        "active",
        "no such job",
        "no answer from gate.example: the connection failed or broke",
    ] {
        assert_eq!(errors::describe(&client, "j1").await.unwrap(), expected);
    }
    let expected = "not sent: id must have at least one character, found empty text";
    assert_eq!(errors::describe(&client, "").await.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn jobs_are_watched_and_waited_for() {
    let host = FakeHost::new([JOB, DONE]);
    let statuses = watch::follow(&host.client(), "j1").await.unwrap();
    assert_eq!(statuses, [JobStatus::Active, JobStatus::Completed]);

    let host = FakeHost::new([JOB, DONE]);
    let last = watch_timeout::follow(&host.client(), "j1").await;
    assert_eq!(last, Ok(JobStatus::Completed));
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
    assert_eq!(host.elapsed(), 600_000);
}

#[tokio::test(start_paused = true)]
async fn undeclared_requests_are_sent_and_responses_have_a_head() {
    let host = FakeHost::new([
        r#"{"status":202,"json":{"statusId":"s1"}}"#,
        r#"{"status":503}"#,
        r#"{"status":200,"text":"path,total"}"#,
        r#"{"status":200,"headers":{"x-request-id":"r-7"},"json":{"id":"j1"}}"#,
    ]);
    let client = host.client();
    let started = request::create_page(&client).await.unwrap();
    assert_eq!(started, json!({ "statusId": "s1" }));
    assert_eq!(host.request(0, "method"), json!("POST"));
    assert_eq!(host.target(0), "/v1/project/pages/acme");
    assert_eq!(request::export(&client).await.unwrap(), "path,total");
    let query = "format=csv&dateFrom=2026-10-01&dateTo=2026-11-01";
    let target = format!("/v1/analytics/acme/views/export?{query}");
    assert_eq!([host.target(1), host.target(2)], [target.clone(), target]);
    let head = send_with_response::read_job(&client, "j1").await.unwrap();
    assert_eq!(head, (200, Some("r-7".into())));
}

#[tokio::test(start_paused = true)]
async fn deployments_previews_and_automations_are_started() {
    let started = r#"{"status":202,"json":{"statusId":"s1","previewUrl":"https://p.example"}}"#;
    let live = r#"{"status":200,"json":{"_id":"s1","status":"success"}}"#;
    let failed = r#"{"status":200,"json":{"_id":"s1","status":"failure","logs":["a","b"]}}"#;
    let host = FakeHost::new([started, failed, started, live, started, failed, failed]);
    let client = host.client();
    assert!(!deploy::deploy(&client).await.unwrap().is_live());
    assert_eq!(host.target(0), "/v1/project/update/acme");
    assert_eq!(host.request(0, "body"), json!(""));
    assert!(host.header(0, "idempotency-key").is_some());
    assert_eq!(host.header(0, "content-type"), None);
    let link = preview::preview(&client, "docs/new#1").await.unwrap();
    assert_eq!(link.as_deref(), Some("https://p.example"));
    assert_eq!(host.request(2, "body"), r#"{"branch":"docs/new#1"}"#);
    assert_eq!(preview::preview(&client, "b").await, Ok(None));
    let last = deployment::last_line(&client, "s1").await.unwrap();
    assert_eq!(last.as_deref(), Some("b"));
    assert_eq!(host.target(6), "/v1/project/update-status/s1");

    let host = FakeHost::new([r#"{"status":202,"json":{"instanceId":"i1"}}"#]);
    let run = automation::run(&host.client(), "w/1", "2.4").await;
    assert_eq!(run, Ok(Some("i1".to_owned())));
    assert_eq!(host.target(0), "/v1/workflow/acme/w%2F1/trigger");
    let key = host.header(0, "idempotency-key");
    assert_eq!(key.as_deref(), Some("release-2.4"));
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn deployments_are_listed_and_watched() {
    let page = r#"{"status":200,"json":{"deployments":[{"statusId":"s2","isLive":false},
        {"statusId":"s1","isLive":true},{"statusId":"s0"}]}}"#;
    let host = FakeHost::new([page, r#"{"status":204}"#]);
    deployments::forget_failed(&host.client()).await.unwrap();
    assert_eq!(host.target(0), "/v1/project/acme/deployments?limit=5");
    assert_eq!(host.request(1, "method"), json!("DELETE"));
    assert_eq!(host.target(1), "/v1/project/acme/deployments/s2");
    assert_eq!(host.count(), 2);

    let host = FakeHost::new([
        r#"{"status":200,"json":{"_id":"s1","status":"queued","logs":["a"]}}"#,
        r#"{"status":200,"json":{"_id":"s1","status":"success","logs":["a","b","c"]}}"#,
    ]);
    let lines = watch_deployment::follow_log(&host.client(), "s1").await;
    assert_eq!(lines.unwrap(), ["a", "b", "c"]);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn jobs_are_listed() {
    let jobs = r#"{"status":200,"json":{"jobs":[{"id":"j1"},{"id":"j2","prLink":"https://x"}]}}"#;
    let host = FakeHost::new([jobs, jobs]);
    let client = host.client();
    let failed = list::failed_jobs(&client).await.unwrap();
    assert_eq!(failed.len(), 2);
    assert_eq!(host.target(0), "/v2/agent/acme/jobs?state=failed&limit=5");
    let links = row_stream::pull_requests(&client).await.unwrap();
    assert_eq!(links, ["https://x"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_record_is_read_and_deleted() {
    let record = r#"{"status":200,"json":{"job":{"id":"j1","createdBy":"ana"},"prompt":"p",
        "messages":[{"author":"ben"}],"changes":[]}}"#;
    let host = FakeHost::new([record, r#"{"status":204}"#]);
    let authors = record::list_authors(&host.client(), "j1").await.unwrap();
    assert_eq!(authors, ["ana", "ben"]);
    assert_eq!(host.target(0), "/v2/agent/acme/job/j1/record");
    delete_record::forget(&host.client(), "j1").await.unwrap();
    assert_eq!(host.request(1, "method"), json!("DELETE"));
}

#[tokio::test(start_paused = true)]
async fn page_views_are_read_by_page_by_row_and_from_a_request() {
    let host = FakeHost::new([LAST_VIEWS]);
    let page = views::october(&host.client()).await.unwrap();
    assert_eq!(page.views.len(), 1);
    let query = "?dateFrom=2026-10-01&dateTo=2026-11-01&limit=10&offset=20";
    assert_eq!(host.target(0), format!("/v1/analytics/acme/views{query}"));

    let both = [MORE_VIEWS, LAST_VIEWS];
    let host = FakeHost::new(both);
    assert_eq!(pages::rows_per_page(&host.client()).await.unwrap(), [2, 1]);

    let host = FakeHost::new(both);
    let expected = ["/a", "/c"];
    assert_eq!(rows::read_by_ai(&host.client()).await.unwrap(), expected);

    let host = FakeHost::new(both);
    let client = host.client();
    let all = ListPageViews::default();
    let (views, rest) = next_request::some_views(&client, all).await.unwrap();
    assert_eq!(views.len(), 2);
    let (views, rest) = next_request::some_views(&client, rest.unwrap())
        .await
        .unwrap();
    assert_eq!((views.len(), rest), (1, None));
    assert!(host.target(1).ends_with("&limit=250&offset=250"));
}

#[tokio::test(start_paused = true)]
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
    let query = "status=pending%2Cin_progress&limit=100";
    assert!(host.target(3).contains(query));
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

#[tokio::test(start_paused = true)]
async fn the_archive_is_read_and_backfilled() {
    let backfill = r#"{"status":200,"json":{"dateFrom":"2026-01-01","days":10,"requests":20}}"#;
    let host = FakeHost::new([
        r#"{"status":200,"json":{"missing":[],"views":[
            {"date":"2026-01-01","total":7,"days":31,"missing":[]}]}}"#,
        r#"{"status":200,"json":{"totals":{},"missing":[],"nextCursor":"/b","views":[
            {"path":"/a","total":4},{"path":"/b","total":3}]}}"#,
        r#"{"status":200,"json":{"totals":{},"missing":[],"views":[{"path":"/c","total":1}]}}"#,
        r#"{"status":200,"json":{"dateFrom":"2026-01-01","dateTo":"2026-02-01","complete":31,
            "partial":0,"failed":0,"missing":[],"failures":[],"requests":0}}"#,
        backfill,
        backfill,
    ]);
    let client = host.client();
    let months = daily_views::monthly_views(&client).await.unwrap();
    assert_eq!(months, [("2026-01-01".to_owned(), 7)]);
    let paths = archived_views::read_paths(&client).await.unwrap();
    assert_eq!(paths, ["/a", "/b", "/c"]);
    assert_eq!(archive_status::is_complete(&client).await, Ok(true));
    assert_eq!(estimate_backfill::count_requests(&client).await, Ok(20));
    let begun = begin_backfill::archive_the_year(&client).await.unwrap();
    assert_eq!(begun.days.get(), 10);
    assert_eq!(host.request(5, "body"), r#"{"dateFrom":"2026-01-01"}"#);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn an_export_waits_for_the_budget_and_resumes_without_a_header() {
    let limited = r#"{"status":429,"headers":{"retry-after":"1800"}}"#;
    let host = FakeHost::new([limited, MORE_VIEWS, r#"{"status":401}"#, LAST_VIEWS]);
    let client = host.client();
    let mut file = Vec::new();
    let all = ListPageViews::default();
    let rest = export::export_views(&client, all, &mut file).await;
    let (error, rest) = rest.unwrap().unwrap_err();
    assert!(matches!(error, Error::Api(error) if error.status == 401));
    let rest = rest.unwrap();
    assert_eq!(host.times(), [0, 1_800_000, 1_800_000]);
    let rest = export::export_views(&client, rest, &mut file).await;
    assert_eq!(rest.unwrap(), Ok(()));
    let csv = "\u{feff}path,human,ai,total\r\n/a,1,5,6\r\n/b,3,1,4\r\n/c,0,2,2\r\n";
    assert_eq!(String::from_utf8(file).unwrap(), csv);
    let targets = [2, 3].map(|at| host.target(at));
    assert_eq!(targets[0], targets[1]);
    assert!(targets[0].contains("&offset=250"), "{targets:?}");
}
