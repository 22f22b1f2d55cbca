//! What is sent, and what a success comes to.

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
async fn a_job_is_read_by_a_get_without_a_body() {
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
async fn a_job_is_created_by_a_post_of_json() {
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

/// Carries out one call, and compares its request and its result.
macro_rules! assert_sent {
    ($call:expr, $method:literal, $target:expr, $answer:expr) => {
        let host = FakeHost::new([format!(r#"{{"status":200,"json":{}}}"#, $answer)]);
        let call = $call;
        let result = call(&host.client()).await.unwrap();
        assert_eq!(host.request(0, "method"), concat!('"', $method, '"'));
        assert_eq!(host.target(0), $target);
        let expected: serde_json::Value = serde_json::from_str($answer).unwrap();
        let result = serde_json::to_value(&result).unwrap();
        assert_included(&expected, &result);
        host.assert_quiet();
    };
}

/// Checks that all of `part` is in `whole`.
#[track_caller]
fn assert_included(part: &serde_json::Value, whole: &serde_json::Value) {
    match (part, whole) {
        (serde_json::Value::Object(part), serde_json::Value::Object(whole)) => {
            for (name, value) in part {
                assert_included(value, &whole[name]);
            }
        }
        (serde_json::Value::Array(part), serde_json::Value::Array(whole)) => {
            assert_eq!(part.len(), whole.len());
            for (part, whole) in part.iter().zip(whole) {
                assert_included(part, whole);
            }
        }
        _ => assert_eq!(part, whole),
    }
}

#[wasm_bindgen_test]
async fn each_operation_on_jobs_has_its_own_address() {
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
async fn each_list_of_a_report_has_its_own_address() {
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
async fn each_other_report_has_its_own_address() {
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
async fn an_id_stays_one_segment_of_the_path() {
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
async fn the_platform_itself_is_asked_with_the_admin_key() {
    let key = || AdminKey::new(KEY).unwrap();
    let elsewhere = Server::platform_at("http://127.0.0.1:8788/under/here/", key()).unwrap();
    let host = FakeHost::new([OK, OK]);
    for (at, server, address) in [
        (0, Server::platform(key()), "https://api.mintlify.com"),
        (1, elsewhere, "http://127.0.0.1:8788/under/here"),
    ] {
        get_job(&host.client_of(server)).await.unwrap();
        assert_eq!(
            host.request(at, "url"),
            format!("\"{address}/v2/agent/acme/job/j1\"")
        );
        let headers = host.request(at, "headers");
        assert!(headers.contains(&format!("\"Bearer {KEY}\"")));
    }
}

#[wasm_bindgen_test]
async fn own_headers_are_sent_and_replace_none_that_the_request_needs() {
    let host = FakeHost::new([OK]);
    let own = Headers::new();
    for (name, value) in [
        ("x-own", "1"),
        ("authorization", "Basic eA=="),
        ("accept", "text/html"),
    ] {
        own.set(name, value);
    }
    let more = Headers::new();
    more.set("X-Own", "2");
    more.set("x-more", "3");
    let client = host.client().with_headers(&own);
    let call = create(&client).with_headers(&more);
    call.with_idempotency_key(key()).await.unwrap();
    let sent = format!(
        r#"{{"accept":"application/json","authorization":"Bearer {TOKEN}","content-type":"application/json","idempotency-key":"once-1","x-more":"3","x-own":"2"}}"#
    );
    assert_eq!(host.request(0, "headers"), sent);
    assert_eq!(
        own.get("authorization").as_deref(),
        Some("Basic eA=="),
        "the caller's own stay"
    );
}

#[wasm_bindgen_test]
async fn a_success_is_read_whatever_its_number() {
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
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
async fn a_write_to_a_gateway_has_a_fresh_key_and_a_read_has_none() {
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
        assert_eq!(fresh.len(), 32, "128 bits in hexadecimal digits");
        assert!(fresh.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!(keys[3], None);
    assert_eq!(keys[4].as_deref(), Some("once-1"));
}

#[wasm_bindgen_test]
async fn the_platform_itself_gets_a_key_only_where_the_caller_has_one() {
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
async fn what_is_forced_says_so_and_is_sent_once() {
    let host = FakeHost::new([r#"{"status":503}"#, OK]);
    create(&host.client()).force(key()).await.unwrap_err();
    let headers = host.request(0, "headers");
    assert!(headers.contains(r#""idempotency-key":"once-1","idempotency-retry":"force""#));
    assert_eq!(host.count(), 1);
}

#[wasm_bindgen_test]
async fn without_another_the_hosts_own_fetch_is_used() {
    let host = FakeHost::new([OK, r#"{"broken":"reset"}"#]);
    host.replace_fetch();
    let client = Client::new(gateway(), acme()).with_options(ONCE);
    get_job(&client).await.unwrap();
    let error = get_job(&client).await.unwrap_err();
    assert!(matches!(error, Error::Connection(_)));
    assert_eq!(host.count(), 2);
    host.assert_quiet();
}

#[wasm_bindgen_test]
async fn what_is_no_response_is_no_answer() {
    for value in ["null", "7", "{}", r#"{"status":200}"#] {
        let host = FakeHost::new([format!(r#"{{"nothing":{{"value":{value}}}}}"#)]);
        let client = host.client().with_options(ONCE);
        let Err(Error::Connection(cause)) = get_job(&client).await else {
            panic!("{value} was taken for a response");
        };
        assert_eq!(cause.to_string(), "TypeError: fetch gave no Response");
        host.assert_quiet();
    }
}

#[wasm_bindgen_test]
fn nothing_that_is_shown_has_a_credential_or_a_prompt() {
    let host = FakeHost::new::<&str>([]);
    for client in [host.client(), host.platform()] {
        let prompt = CreateAgentJob::new(Prompt::new("secret plan").unwrap());
        let shown = [
            format!("{client:?}"),
            format!("{:?}", client.agent_jobs()),
            format!("{:?}", client.agent_jobs().create(prompt)),
            format!("{:?}", client.agent_jobs().watch(job_1())),
            format!("{:?}", client.analytics().views(ListPageViews::default())),
        ]
        .concat();
        assert!(
            shown.contains("acme") && shown.contains("prompt"),
            "{shown}"
        );
        for secret in [TOKEN, KEY, "secret plan"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
