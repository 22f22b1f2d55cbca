//! Requests and successful responses.

use crate::fake_host::{FakeHost, KEY, TOKEN, create, get_job};
use quillgate::client::http::{HeaderMap, HeaderValue};
use quillgate::client::{ApiCall, Client, Error};
use quillgate::{DateRange, DayGroup, FeedbackSource, JobStatus, Rule, SendMessage};
use serde_json::json;

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;
const THREAD: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn send_message(client: &Client) -> ApiCall<SendMessage> {
    client.agent_jobs().send_message("j1", "p")
}

#[tokio::test(start_paused = true)]
async fn getting_a_job_sends_a_get_without_a_body() {
    let host = FakeHost::new([OK]);
    get_job(&host.client()).send().await.unwrap();
    let expected = json!([{
        "method": "GET",
        "url": "https://gate.example/v2/agent/acme/job/j1",
        "headers": { "accept": "application/json", "authorization": format!("Bearer {TOKEN}") },
        "body": "",
        "at": 0,
    }]);
    assert_eq!(host.requests(), expected);
}

#[tokio::test(start_paused = true)]
async fn creating_a_job_sends_a_post_with_json() {
    let host = FakeHost::new([r#"{"status":201,"json":{"id":"j1"}}"#]);
    let call = host.client().agent_jobs().create("Say \"é\"\n");
    call.idempotency_key("once-1").send().await.unwrap();
    let expected = json!([{
        "method": "POST",
        "url": "https://gate.example/v2/agent/acme/job",
        "headers": {
            "accept": "application/json",
            "authorization": format!("Bearer {TOKEN}"),
            "content-type": "application/json",
            "idempotency-key": "once-1",
        },
        "body": r#"{"prompt":"Say \"é\"\n"}"#,
        "at": 0,
    }]);
    assert_eq!(host.requests(), expected);
}

fn october() -> DateRange {
    ("2024-01-01".."2024-01-02T10:00:00+02:00")
        .try_into()
        .unwrap()
}

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-01-02T10%3A00%3A00%2B02%3A00";

/// Makes one call, and asserts its method, its URL and that the result contains the response.
macro_rules! assert_sent {
    ($call:expr, $method:literal, $target:expr, $response:expr) => {
        let host = FakeHost::new([format!(r#"{{"status":200,"json":{}}}"#, $response)]);
        let call = $call;
        let result = call(&host.client()).send().await.unwrap();
        assert_eq!(host.request(0, "method"), $method);
        assert_eq!(host.target(0), $target);
        let expected: serde_json::Value = serde_json::from_str($response).unwrap();
        let result = serde_json::to_value(&result).unwrap();
        assert_included(&expected, &result);
        host.assert_idle();
    };
}

/// Asserts that `actual` contains `expected`. Only objects may have more than is expected.
#[track_caller]
fn assert_included(expected: &serde_json::Value, actual: &serde_json::Value) {
    match (expected, actual) {
        (serde_json::Value::Object(expected), serde_json::Value::Object(actual)) => {
            for (name, value) in expected {
                assert_included(value, &actual[name]);
            }
        }
        (serde_json::Value::Array(expected), serde_json::Value::Array(actual)) => {
            assert_eq!(expected.len(), actual.len());
            for (expected, actual) in expected.iter().zip(actual) {
                assert_included(expected, actual);
            }
        }
        _ => assert_eq!(expected, actual),
    }
}

#[tokio::test(start_paused = true)]
async fn each_job_operation_has_its_own_url() {
    let job = r#"{"id":"j1","status":"active"}"#;
    assert_sent!(create, "POST", "/v2/agent/acme/job", job);
    assert_sent!(get_job, "GET", "/v2/agent/acme/job/j1", job);
    assert_sent!(send_message, "POST", "/v2/agent/acme/job/j1/message", job);
    let jobs = r#"{"jobs":[{"id":"j1","status":"odd"}],"nextCursor":"b"}"#;
    let list = |client: &Client| {
        let list = client.agent_jobs().list(..).state(JobStatus::Failed);
        let list = list.author("ana@example.org").text("a b");
        list.limit(7).cursor("a/b+c=")
    };
    let target = "/v2/agent/acme/jobs?state=failed&author=ana%40example.org&text=a%20b&limit=7&cursor=a%2Fb%2Bc%3D";
    assert_sent!(list, "GET", target, jobs);
    let list = |client: &Client| client.agent_jobs().list(..);
    assert_sent!(list, "GET", "/v2/agent/acme/jobs", jobs);
    let record = r#"{"job":{"id":"j1"},"prompt":"p","messages":[{"author":"ana@example.org"}],
        "changes":[{"status":"active"}]}"#;
    let read = |client: &Client| client.agent_jobs().record("j1");
    assert_sent!(read, "GET", "/v2/agent/acme/job/j1/record", record);
    let delete = |client: &Client| client.agent_jobs().delete_record("j1");
    assert_sent!(delete, "DELETE", "/v2/agent/acme/job/j1/record", "null");
}

#[tokio::test(start_paused = true)]
async fn each_report_list_has_its_own_url() {
    let path = "/v1/analytics/acme";
    let views = r#"{"totals":{"human":3},"views":[{"path":"/","ai":2}],"hasMore":false}"#;
    let list = |client: &Client| {
        let list = client.analytics().views(october());
        list.limit(7).offset(14)
    };
    let target = format!("{path}/views?{RANGE}&limit=7&offset=14");
    assert_sent!(list, "GET", target, views);

    let visitors = r#"{"totals":{"ai":3},"visitors":[{"path":"/","human":2}],"hasMore":true}"#;
    let list = |client: &Client| client.analytics().visitors(october()).limit(250);
    let target = format!("{path}/visitors?{RANGE}&limit=250&offset=0");
    assert_sent!(list, "GET", target, visitors);

    let feedback = r#"{"feedback":[{"id":"f1","source":"contextual","helpful":true}],
        "nextCursor":"c","hasMore":true}"#;
    let list = |client: &Client| {
        let list = client.analytics().feedback(october());
        let list = list.source(FeedbackSource::Contextual);
        list.status("pending,resolved").limit(9).cursor("b")
    };
    let target = format!(
        "{path}/feedback?{RANGE}&source=contextual&status=pending%2Cresolved&limit=9&cursor=b"
    );
    assert_sent!(list, "GET", target, feedback);

    let searches = r#"{"searches":[{"searchQuery":"jobs","hits":3,"ctr":12.5}],"totalSearches":3}"#;
    let list = |client: &Client| client.analytics().searches(..);
    let end = "dateTo=2024-01-01T00%3A00%3A00.000Z";
    assert_sent!(list, "GET", format!("{path}/searches?{end}"), searches);

    let conversations = r#"{"conversations":[{"id":"c1","query":"How?"}],"hasMore":false}"#;
    let list = |client: &Client| {
        let list = client.analytics().conversations(..);
        list.limit(1000).cursor(THREAD)
    };
    // The cursor belongs to the range of an earlier request.
    let target = format!("{path}/assistant?limit=1000&cursor={THREAD}");
    assert_sent!(list, "GET", target, conversations);
}

#[tokio::test(start_paused = true)]
async fn each_other_report_has_its_own_url() {
    let path = "/v1/analytics/acme";
    let by_page = r#"{"feedback":[{"path":"/","thumbsUp":3}],"hasMore":false}"#;
    let get = |client: &Client| client.analytics().feedback_by_page(..).limit(100);
    let target = format!("{path}/feedback/by-page?limit=100");
    assert_sent!(get, "GET", target, by_page);

    let thread = r#"{"threadId":"t","messages":[{"role":"user","content":"How?"}]}"#;
    let get = |client: &Client| client.analytics().conversation(THREAD);
    let target = format!("{path}/assistant/threads/{THREAD}");
    assert_sent!(get, "GET", target, thread);

    let stats = r#"{"web":3,"api":2,"other":1,"total":6}"#;
    let get = |client: &Client| client.analytics().caller_stats(october());
    let target = format!("{path}/assistant/caller-stats?{RANGE}");
    assert_sent!(get, "GET", target, stats);
}

#[tokio::test(start_paused = true)]
async fn each_archive_operation_has_its_own_url() {
    let path = "/v1/analytics/acme/views/daily";
    let views = r#"{"views":[{"date":"2026-01-01","days":31,"missing":[]}],"missing":[]}"#;
    let list = |client: &Client| {
        let days = "2026-01-01".."2026-02-01";
        let list = client.analytics().daily_views(days);
        list.path("/guides/start").group(DayGroup::Month)
    };
    let target =
        format!("{path}?dateFrom=2026-01-01&dateTo=2026-02-01&path=%2Fguides%2Fstart&group=month");
    assert_sent!(list, "GET", target, views);

    let archived = r#"{"totals":{},"views":[{"path":"/a"}],"missing":[]}"#;
    let list = |client: &Client| {
        client
            .analytics()
            .archived_views("2026-01-01".."2026-02-01")
    };
    let target = "/v1/analytics/acme/views/archived?dateFrom=2026-01-01&dateTo=2026-02-01";
    assert_sent!(list, "GET", target, archived);

    let status = r#"{"dateFrom":"2026-01-01","dateTo":"2026-02-01","complete":30,"partial":0,
        "failed":1,"missing":[],"failures":[],"requests":1}"#;
    let get = |client: &Client| client.analytics().archive_status();
    assert_sent!(get, "GET", format!("{path}/status"), status);

    let backfill = r#"{"dateFrom":"2026-01-01","days":10,"requests":20,"hours":1}"#;
    let estimate = |client: &Client| client.analytics().estimate_backfill("2026-01-01");
    let target = format!("{path}/backfill?dateFrom=2026-01-01");
    assert_sent!(estimate, "GET", target, backfill);
    let begin = |client: &Client| client.analytics().begin_backfill("2026-01-01");
    assert_sent!(begin, "POST", format!("{path}/backfill"), backfill);
}

#[tokio::test(start_paused = true)]
async fn an_id_stays_one_path_segment() {
    for (id, segment) in [
        ("a/../b?x=1#y", "a%2F..%2Fb%3Fx%3D1%23y"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        ("é 😀", "%C3%A9%20%F0%9F%98%80"),
        (r"..\..", "..%5C.."),
    ] {
        let host = FakeHost::new([r#"{"status":200,"json":{}}"#]);
        host.client().agent_jobs().get(id).send().await.unwrap();
        let target = format!("/v2/agent/acme/job/{segment}");
        assert_eq!(host.target(0), target, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_is_identified_by_its_id_or_by_itself() {
    let host = FakeHost::new([OK; 4]);
    let client = host.client();
    let jobs = client.agent_jobs();
    let job = jobs.get("j1").send().await.unwrap();
    let id: quillgate::JobId = "j1".parse().unwrap();
    jobs.get(&job).send().await.unwrap();
    jobs.get(&id).send().await.unwrap();
    jobs.get(id).send().await.unwrap();
    for at in 0..4 {
        assert_eq!(host.target(at), "/v2/agent/acme/job/j1");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_to_mintlify_carry_the_admin_key() {
    let host = FakeHost::new([OK, OK]);
    let proxy = "http://127.0.0.1:8788/under/here/";
    for (at, builder, base_url) in [
        (0, host.platform(), "https://api.mintlify.com"),
        (
            1,
            host.builder().platform_at(proxy, KEY),
            "http://127.0.0.1:8788/under/here",
        ),
    ] {
        get_job(&builder.build().unwrap()).send().await.unwrap();
        let url = format!("{base_url}/v2/agent/acme/job/j1");
        assert_eq!(host.request(at, "url"), url);
        let authorization = host.header(at, "authorization");
        assert_eq!(authorization, Some(format!("Bearer {KEY}")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_url_is_sent_to_gateways_only() {
    let url = "https://hooks.example/done";
    let host = FakeHost::new([OK]);
    create(&host.client())
        .webhook_url(url)
        .send()
        .await
        .unwrap();
    assert_eq!(host.header(0, "webhook-url").as_deref(), Some(url));

    let host = FakeHost::new([""; 0]);
    let platform = host.platform().build().unwrap();
    for (call, rule) in [
        (create(&platform).webhook_url(url), Rule::GatewayOnly),
        (create(&host.client()).webhook_url("x"), Rule::WebhookUrl),
    ] {
        let error = call.send().await.unwrap_err();
        assert!(matches!(error, Error::Validation(error) if error.rule == rule));
    }
}

fn headers<const N: usize>(fields: [(&'static str, &'static str); N]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

#[tokio::test(start_paused = true)]
async fn custom_headers_are_sent_but_do_not_replace_required_headers() {
    let host = FakeHost::new([OK]);
    let own = headers([
        ("x-own", "1"),
        ("authorization", "Basic eA=="),
        ("accept", "text/html"),
    ]);
    let client = host.builder().headers(own).build().unwrap();
    let call = create(&client).headers(headers([("x-own", "2"), ("x-more", "3")]));
    call.idempotency_key("once-1").send().await.unwrap();
    let expected = json!({
        "accept": "application/json",
        "authorization": format!("Bearer {TOKEN}"),
        "content-type": "application/json",
        "idempotency-key": "once-1",
        "x-more": "3",
        "x-own": "2",
    });
    assert_eq!(host.request(0, "headers"), expected);
}

#[tokio::test(start_paused = true)]
async fn every_2xx_response_is_decoded() {
    for status in [200, 201, 206, 299] {
        let host = FakeHost::new([format!(
            r#"{{"status":{status},"json":{{"id":"j1","status":"odd","source":{{"ref":null}},"more":[1]}}}}"#
        )]);
        let job = get_job(&host.client()).send().await.unwrap();
        assert_eq!(job.id.as_deref(), Some("j1"));
        assert_eq!(job.status, Some(JobStatus::Other("odd".into())));
        let source = job.source.unwrap();
        assert_eq!((source.repository, source.reference), (None, None));
        assert_eq!((job.model, job.pr_link), (None, None));
        assert_eq!((job.created_at, job.archived_at), (None, None));
        host.assert_idle();
    }
}

#[tokio::test(start_paused = true)]
async fn writes_to_a_gateway_get_a_fresh_idempotency_key_and_reads_get_none() {
    let host = FakeHost::new([OK; 5]);
    let client = host.client();
    create(&client).send().await.unwrap();
    send_message(&client).send().await.unwrap();
    create(&client).send().await.unwrap();
    get_job(&client).send().await.unwrap();
    create(&client)
        .idempotency_key("once-1")
        .send()
        .await
        .unwrap();
    let keys: Vec<_> = (0..5)
        .map(|at| host.header(at, "idempotency-key"))
        .collect();
    for fresh in &keys[..3] {
        let fresh = fresh.as_deref().unwrap();
        assert_eq!(fresh.len(), 32, "128 bits as hexadecimal digits");
        assert!(fresh.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!(keys[3], None);
    assert_eq!(keys[4].as_deref(), Some("once-1"));
}

#[tokio::test(start_paused = true)]
async fn mintlify_gets_an_idempotency_key_only_from_the_caller() {
    let host = FakeHost::new([OK; 2]);
    let client = host.platform().build().unwrap();
    create(&client).send().await.unwrap();
    create(&client)
        .idempotency_key("once-1")
        .send()
        .await
        .unwrap();
    assert_eq!(host.header(0, "idempotency-key"), None);
    let key = host.header(1, "idempotency-key");
    assert_eq!(key.as_deref(), Some("once-1"));
}

#[tokio::test(start_paused = true)]
async fn a_forced_call_is_marked_and_sent_once() {
    let host = FakeHost::new([r#"{"status":503}"#, OK]);
    let call = create(&host.client()).idempotency_key("once-1").force();
    call.send().await.unwrap_err();
    let retry = host.header(0, "idempotency-retry");
    assert_eq!(retry.as_deref(), Some("force"));
    assert_eq!(host.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_forced_call_without_a_key_is_not_sent() {
    let host = FakeHost::new([OK]);
    let error = create(&host.client()).force().send().await.unwrap_err();
    assert!(matches!(
        error,
        Error::Validation(error) if error.field == "idempotencyKey" && error.rule == Rule::Required
    ));
    assert_eq!(host.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn debug_output_hides_credentials_and_prompts() {
    let host = FakeHost::new::<&str>([]);
    for builder in [host.builder(), host.platform()] {
        let printed = format!("{builder:?}");
        let client = builder.build().unwrap();
        let output = [
            printed,
            format!("{client:?}"),
            format!("{:?}", client.agent_jobs()),
            format!("{:?}", client.agent_jobs().create("secret plan")),
            format!("{:?}", client.agent_jobs().watch("j1")),
            format!("{:?}", client.analytics().views(..)),
        ]
        .concat();
        assert!(
            output.contains("acme") && output.contains("prompt"),
            "{output}"
        );
        for secret in [TOKEN, KEY, "secret plan"] {
            assert!(!output.contains(secret), "{output}");
        }
    }
}

#[tokio::test]
async fn calls_can_be_spawned_on_another_thread() {
    let host = FakeHost::new([OK]);
    let client = host.client();
    let job = tokio::spawn(async move { client.agent_jobs().get("j1").send().await });
    assert_eq!(job.await.unwrap().unwrap().id.as_deref(), Some("j1"));
}
