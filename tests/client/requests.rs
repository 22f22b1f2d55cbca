//! Requests and successful responses.

use crate::fake_host::{
    FakeHost, KEY, ONCE, TOKEN, acme, assert_json, create, gateway, get_job, job_1,
};
use quillgate::client::{Client, Error, Headers, IdempotencyKey, Server};
use quillgate::credential::AdminKey;
use quillgate::{
    ConversationCursor, CreateAgentJob, Cursor, DateBound, DateRange, FeedbackSource,
    FeedbackStatuses, GetAgentJob, GetAgentJobRecord, GetCallerStats, GetConversation,
    GetFeedbackByPage, JobAuthor, JobId, JobPageSize, JobStatus, Limit, ListAgentJobs,
    ListConversations, ListFeedback, ListPageViews, ListSearches, ListVisitors, Offset, PageSize,
    Prompt, PromptText, SendMessage, SmallPageSize, ThreadId,
};
use wasm_bindgen_test::wasm_bindgen_test;

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;
const THREAD: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn key() -> IdempotencyKey {
    IdempotencyKey::new("once-1").unwrap()
}

fn send_message(client: &Client) -> quillgate::client::ApiCall<SendMessage> {
    let message = SendMessage::new(JobId::new("j1").unwrap(), Prompt::new("p").unwrap());
    client.agent_jobs().send_message(message)
}

#[wasm_bindgen_test]
async fn getting_a_job_sends_a_get_without_a_body() {
    let host = FakeHost::new([OK]);
    get_job(&host.client()).await.unwrap();
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
async fn creating_a_job_sends_a_post_with_json() {
    let host = FakeHost::new([r#"{"status":201,"json":{"id":"j1"}}"#]);
    let create = CreateAgentJob::new(Prompt::new("Say \"é\"\n").unwrap());
    let call = host.client().agent_jobs().create(create);
    call.with_idempotency_key(key()).await.unwrap();
    assert_json(
        &host.requests(),
        &format!(
            r#"[{{
                "method": "POST",
                "url": "https://gate.example/v2/agent/acme/job",
                "headers": {{
                    "accept": "application/json",
                    "authorization": "Bearer {TOKEN}",
                    "content-type": "application/json",
                    "idempotency-key": "once-1"
                }},
                "redirect": "manual",
                "body": "{{\"prompt\":\"Say \\\"é\\\"\\n\"}}",
                "at": 0
            }}]"#
        ),
    );
}

fn october() -> DateRange {
    let bound = |field, text: &str| Some(DateBound::new(field, text).unwrap());
    let to = bound("dateTo", "2024-01-02T10:00:00+02:00");
    DateRange::new(bound("dateFrom", "2024-01-01"), to).unwrap()
}

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-01-02T10%3A00%3A00%2B02%3A00";

/// Makes one call and asserts its request and its result.
macro_rules! assert_sent {
    ($call:expr, $method:literal, $target:expr, $response:expr) => {
        let host = FakeHost::new([format!(r#"{{"status":200,"json":{}}}"#, $response)]);
        let call = $call;
        let result = call(&host.client()).await.unwrap();
        assert_eq!(host.request(0, "method"), concat!('"', $method, '"'));
        assert_eq!(host.target(0), $target);
        let expected: serde_json::Value = serde_json::from_str($response).unwrap();
        let result = serde_json::to_value(&result).unwrap();
        assert_included(&expected, &result);
        host.assert_idle();
    };
}

/// Asserts that `actual` contains all of `expected`.
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

#[wasm_bindgen_test]
async fn each_job_operation_has_its_own_url() {
    let job = r#"{"id":"j1","status":"active"}"#;
    assert_sent!(create, "POST", "/v2/agent/acme/job", job);
    assert_sent!(get_job, "GET", "/v2/agent/acme/job/j1", job);
    assert_sent!(send_message, "POST", "/v2/agent/acme/job/j1/message", job);
    let jobs = r#"{"jobs":[{"id":"j1","status":"odd"}],"nextCursor":"b"}"#;
    let list = |client: &Client| {
        client.agent_jobs().list(ListAgentJobs {
            state: Some(JobStatus::Failed),
            author: Some(JobAuthor::new("ana@example.org").unwrap()),
            text: Some(PromptText::new("a b").unwrap()),
            limit: Some(JobPageSize::new(7).unwrap()),
            cursor: Some(Cursor::new("a/b+c=").unwrap()),
        })
    };
    let target = "/v2/agent/acme/jobs?state=failed&author=ana%40example.org&text=a%20b&limit=7&cursor=a%2Fb%2Bc%3D";
    assert_sent!(list, "GET", target, jobs);
    let list = |client: &Client| client.agent_jobs().list(ListAgentJobs::default());
    assert_sent!(list, "GET", "/v2/agent/acme/jobs", jobs);
    let record = r#"{"job":{"id":"j1"},"prompt":"p","messages":[{"author":"ana@example.org"}],
        "changes":[{"status":"active"}]}"#;
    let read = |client: &Client| {
        let get = GetAgentJobRecord::new(JobId::new("j1").unwrap());
        client.agent_jobs().record(get)
    };
    assert_sent!(read, "GET", "/v2/agent/acme/job/j1/record", record);
}

#[wasm_bindgen_test]
async fn each_report_list_has_its_own_url() {
    let path = "/v1/analytics/acme";
    let views = r#"{"totals":{"human":3},"views":[{"path":"/","ai":2}],"hasMore":false}"#;
    let list = |client: &Client| {
        client.analytics().views(ListPageViews {
            range: october(),
            limit: Some(PageSize::new(7).unwrap()),
            offset: Some(Offset::new(14).unwrap()),
        })
    };
    let target = format!("{path}/views?{RANGE}&limit=7&offset=14");
    assert_sent!(list, "GET", target, views);

    let visitors = r#"{"totals":{"ai":3},"visitors":[{"path":"/","human":2}],"hasMore":true}"#;
    let list = |client: &Client| {
        client.analytics().visitors(ListVisitors {
            range: october(),
            limit: Some(PageSize::new(250).unwrap()),
            offset: None,
        })
    };
    let target = format!("{path}/visitors?{RANGE}&limit=250&offset=0");
    assert_sent!(list, "GET", target, visitors);

    let feedback = r#"{"feedback":[{"id":"f1","source":"contextual","helpful":true}],
        "nextCursor":"c","hasMore":true}"#;
    let list = |client: &Client| {
        client.analytics().feedback(ListFeedback {
            range: october(),
            source: Some(FeedbackSource::Contextual),
            status: Some(FeedbackStatuses::new("pending,resolved").unwrap()),
            limit: Some(SmallPageSize::new(9).unwrap()),
            cursor: Some(Cursor::new("b").unwrap()),
        })
    };
    let target = format!(
        "{path}/feedback?{RANGE}&source=contextual&status=pending%2Cresolved&limit=9&cursor=b"
    );
    assert_sent!(list, "GET", target, feedback);

    let searches = r#"{"searches":[{"searchQuery":"jobs","hits":3,"ctr":0.5}],"totalSearches":3}"#;
    let list = |client: &Client| client.analytics().searches(ListSearches::default());
    assert_sent!(list, "GET", format!("{path}/searches"), searches);

    let conversations = r#"{"conversations":[{"id":"c1","query":"How?"}],"hasMore":false}"#;
    let list = |client: &Client| {
        client.analytics().conversations(ListConversations {
            limit: Some(Limit::new(1000).unwrap()),
            cursor: Some(ConversationCursor::new(THREAD).unwrap()),
            ..ListConversations::default()
        })
    };
    let target = format!("{path}/assistant?limit=1000&cursor={THREAD}");
    assert_sent!(list, "GET", target, conversations);
}

#[wasm_bindgen_test]
async fn each_other_report_has_its_own_url() {
    let path = "/v1/analytics/acme";
    let by_page = r#"{"feedback":[{"path":"/","thumbsUp":3}],"hasMore":false}"#;
    let get = |client: &Client| {
        client.analytics().feedback_by_page(GetFeedbackByPage {
            limit: Some(Limit::new(100).unwrap()),
            ..GetFeedbackByPage::default()
        })
    };
    let target = format!("{path}/feedback/by-page?limit=100");
    assert_sent!(get, "GET", target, by_page);

    let thread = r#"{"threadId":"t","messages":[{"role":"user","content":"How?"}]}"#;
    let get = |client: &Client| {
        let get = GetConversation::new(ThreadId::new(THREAD).unwrap());
        client.analytics().conversation(get)
    };
    let target = format!("{path}/assistant/threads/{THREAD}");
    assert_sent!(get, "GET", target, thread);

    let stats = r#"{"web":3,"api":2,"other":1,"total":6}"#;
    let get = |client: &Client| {
        client
            .analytics()
            .caller_stats(GetCallerStats { range: october() })
    };
    let target = format!("{path}/assistant/caller-stats?{RANGE}");
    assert_sent!(get, "GET", target, stats);
}

#[wasm_bindgen_test]
async fn an_id_stays_one_path_segment() {
    for (id, segment) in [
        ("a/../b?x=1#y", "a%2F..%2Fb%3Fx%3D1%23y"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        ("é 😀", "%C3%A9%20%F0%9F%98%80"),
        (r"..\..", "..%5C.."),
    ] {
        let host = FakeHost::new([OK]);
        let get = GetAgentJob::new(JobId::new(id).unwrap());
        host.client().agent_jobs().get(get).await.unwrap();
        assert_eq!(
            host.target(0),
            format!("/v2/agent/acme/job/{segment}"),
            "{id}"
        );
    }
}

#[wasm_bindgen_test]
async fn requests_to_the_platform_carry_the_admin_key() {
    let key = || AdminKey::new(KEY).unwrap();
    let proxy = Server::platform_at("http://127.0.0.1:8788/under/here/", key()).unwrap();
    let host = FakeHost::new([OK, OK]);
    for (at, server, base_url) in [
        (0, Server::platform(key()), "https://api.mintlify.com"),
        (1, proxy, "http://127.0.0.1:8788/under/here"),
    ] {
        get_job(&host.client_of(server)).await.unwrap();
        assert_eq!(
            host.request(at, "url"),
            format!("\"{base_url}/v2/agent/acme/job/j1\"")
        );
        let headers = host.request(at, "headers");
        assert!(headers.contains(&format!("\"Bearer {KEY}\"")));
    }
}

#[wasm_bindgen_test]
async fn custom_headers_are_sent_but_do_not_replace_required_headers() {
    let host = FakeHost::new([OK]);
    let headers = Headers::new();
    for (name, value) in [
        ("x-own", "1"),
        ("authorization", "Basic eA=="),
        ("accept", "text/html"),
    ] {
        headers.set(name, value);
    }
    let call_headers = Headers::new();
    call_headers.set("X-Own", "2");
    call_headers.set("x-more", "3");
    let client = host.client().with_headers(&headers);
    let call = create(&client).with_headers(&call_headers);
    call.with_idempotency_key(key()).await.unwrap();
    let sent = format!(
        r#"{{"accept":"application/json","authorization":"Bearer {TOKEN}","content-type":"application/json","idempotency-key":"once-1","x-more":"3","x-own":"2"}}"#
    );
    assert_eq!(host.request(0, "headers"), sent);
    assert_eq!(
        headers.get("authorization").as_deref(),
        Some("Basic eA=="),
        "the headers of the caller are unchanged"
    );
}

#[wasm_bindgen_test]
async fn every_2xx_response_is_decoded() {
    for status in [200, 201, 206, 299] {
        let host = FakeHost::new([format!(
            r#"{{"status":{status},"json":{{"id":"j1","status":"odd","source":{{"ref":null}},"more":[1]}}}}"#
        )]);
        let job = get_job(&host.client()).await.unwrap();
        assert_eq!(job.id.as_deref(), Some("j1"));
        assert_eq!(job.status, Some(JobStatus::Other("odd".into())));
        let source = job.source.unwrap();
        assert_eq!((source.repository, source.reference), (None, None));
        assert_eq!((job.model, job.pr_link), (None, None));
        assert_eq!((job.created_at, job.archived_at), (None, None));
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
async fn writes_to_a_gateway_get_a_fresh_idempotency_key_and_reads_get_none() {
    let host = FakeHost::new([OK; 5]);
    let client = host.client();
    create(&client).await.unwrap();
    send_message(&client).await.unwrap();
    create(&client).await.unwrap();
    get_job(&client).await.unwrap();
    create(&client).with_idempotency_key(key()).await.unwrap();
    let keys: Vec<Option<String>> = (0..5).map(|at| sent_key(&host, at)).collect();
    for fresh in &keys[..3] {
        let fresh = fresh.as_deref().unwrap();
        assert_eq!(fresh.len(), 32, "128 bits as hexadecimal digits");
        assert!(fresh.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!(keys[3], None);
    assert_eq!(keys[4].as_deref(), Some("once-1"));
}

#[wasm_bindgen_test]
async fn the_platform_gets_an_idempotency_key_only_from_the_caller() {
    let host = FakeHost::new([OK; 2]);
    let client = host.platform();
    create(&client).await.unwrap();
    create(&client).with_idempotency_key(key()).await.unwrap();
    assert_eq!(sent_key(&host, 0), None);
    assert_eq!(sent_key(&host, 1).as_deref(), Some("once-1"));
}

fn sent_key(host: &FakeHost, at: u32) -> Option<String> {
    let headers: serde_json::Value = serde_json::from_str(&host.request(at, "headers")).unwrap();
    headers["idempotency-key"].as_str().map(str::to_owned)
}

#[wasm_bindgen_test]
async fn a_forced_call_is_marked_and_sent_once() {
    let host = FakeHost::new([r#"{"status":503}"#, OK]);
    create(&host.client()).force(key()).await.unwrap_err();
    let headers = host.request(0, "headers");
    assert!(headers.contains(r#""idempotency-key":"once-1","idempotency-retry":"force""#));
    assert_eq!(host.count(), 1);
}

#[wasm_bindgen_test]
async fn the_fetch_of_the_host_is_the_default() {
    let host = FakeHost::new([OK, r#"{"broken":"reset"}"#]);
    host.replace_global_fetch();
    let client = Client::new(gateway(), acme()).with_options(ONCE);
    get_job(&client).await.unwrap();
    let error = get_job(&client).await.unwrap_err();
    assert!(matches!(error, Error::Connection(_)));
    assert_eq!(host.count(), 2);
    host.assert_idle();
}

#[wasm_bindgen_test]
async fn a_fetch_result_that_is_not_a_response_is_a_connection_error() {
    for value in ["null", "7", "{}", r#"{"status":200}"#] {
        let host = FakeHost::new([format!(r#"{{"nothing":{{"value":{value}}}}}"#)]);
        let client = host.client().with_options(ONCE);
        let Err(Error::Connection(cause)) = get_job(&client).await else {
            panic!("expected {value} to be rejected as a response");
        };
        assert_eq!(cause.to_string(), "TypeError: fetch gave no Response");
        host.assert_idle();
    }
}

#[wasm_bindgen_test]
fn debug_output_hides_credentials_and_prompts() {
    let host = FakeHost::new::<&str>([]);
    for client in [host.client(), host.platform()] {
        let prompt = CreateAgentJob::new(Prompt::new("secret plan").unwrap());
        let output = [
            format!("{client:?}"),
            format!("{:?}", client.agent_jobs()),
            format!("{:?}", client.agent_jobs().create(prompt)),
            format!("{:?}", client.agent_jobs().watch(job_1())),
            format!("{:?}", client.analytics().views(ListPageViews::default())),
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
