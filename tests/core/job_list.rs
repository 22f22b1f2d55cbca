use quillgate::response::decode;
use quillgate::{
    Cursor, DecodeError, Endpoint, JobAuthor, JobPage, JobPageSize, JobStatus, ListAgentJobs,
    PromptText, Rule, StreamProjectJobEvents,
};
use serde_json::{Value, json};

use crate::operations::project;
use crate::parameters::query;

fn target(list: &ListAgentJobs) -> String {
    list.request(&project()).target
}

fn body() -> Value {
    json!({
        "jobs": [{
            "id": "job_2",
            "status": "completed",
            "prompt": "Document the endpoint",
            "createdBy": "alice",
            "createdAt": "2026-11-21T08:53:00.000Z",
            "prLink": "https://git.example/acme/docs/pull/7",
            "checkedAt": "2026-11-21T08:55:00.000Z",
        }],
        "nextCursor": "b2xkZXI",
        "revision": 7,
    })
}

fn read(body: &Value) -> Result<JobPage, DecodeError> {
    decode::<ListAgentJobs>(body.to_string().as_bytes())
}

#[test]
fn a_request_without_parameters_leaves_the_defaults_to_the_gateway() {
    assert_eq!(target(&ListAgentJobs::default()), "/v2/agent/acme/jobs");
    assert_eq!(JobPageSize::DEFAULT.get(), 25);
}

#[test]
fn limit_and_cursor_are_sent_percent_encoded() {
    let mut list = ListAgentJobs::default();
    list.limit = Some(JobPageSize::MAX);
    list.cursor = Some(Cursor::new("a+b/c=&d").unwrap());
    let expected = "/v2/agent/acme/jobs?limit=100&cursor=a%2Bb%2Fc%3D%26d";
    assert_eq!(target(&list), expected);
}

#[test]
fn filters_are_sent_percent_encoded_before_limit_and_cursor() {
    let mut list = ListAgentJobs::default();
    list.state = Some(JobStatus::Failed);
    list.author = Some(JobAuthor::new("ana@example.org").unwrap());
    list.text = Some(PromptText::new("100% & more").unwrap());
    list.limit = Some(JobPageSize::DEFAULT);
    let expected = "?state=failed&author=ana%40example.org&text=100%25%20%26%20more&limit=25";
    assert_eq!(target(&list), format!("/v2/agent/acme/jobs{expected}"));
    let parsed = ListAgentJobs::parse(&json!({
        "state": "failed",
        "author": "ana@example.org",
        "text": "100% & more",
        "limit": 25,
    }));
    assert_eq!(parsed, Ok(list));
}

#[test]
fn filters_require_a_known_state_and_non_empty_strings() {
    for known in JobStatus::KNOWN.iter().copied() {
        let list = ListAgentJobs::parse(&query(&[("state", known)])).unwrap();
        assert_eq!(list.state.as_ref().map(JobStatus::as_str), Some(known));
    }
    for (field, value, rule) in [
        ("state", json!("queued"), Rule::OneOf(JobStatus::KNOWN)),
        ("state", json!(""), Rule::OneOf(JobStatus::KNOWN)),
        ("state", json!("Failed"), Rule::OneOf(JobStatus::KNOWN)),
        ("author", json!(""), Rule::NotEmpty),
        ("author", json!(7), Rule::Text),
        ("text", json!(""), Rule::NotEmpty),
        ("text", json!(["a"]), Rule::Text),
    ] {
        let error = ListAgentJobs::parse(&json!({ field: value })).unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule), (field, rule));
    }
    assert_eq!(JobAuthor::new("").unwrap_err().rule, Rule::NotEmpty);
}

#[test]
fn the_events_of_all_jobs_have_a_path_below_the_list() {
    let request = StreamProjectJobEvents::default().request(&project());
    assert_eq!(request.target, "/v2/agent/acme/jobs/events");
}

#[test]
fn a_page_decodes_and_serializes_unchanged() {
    let page = read(&body()).unwrap();
    let [job] = &page.jobs[..] else {
        panic!("expected one job");
    };
    assert_eq!(job.id, "job_2");
    assert_eq!(job.status, Some(JobStatus::Completed));
    assert_eq!(job.created_by.as_deref(), Some("alice"));
    assert_eq!(page.next_cursor.as_deref(), Some("b2xkZXI"));
    assert_eq!(serde_json::to_value(page).unwrap(), body());
}

#[test]
fn a_listed_job_requires_only_an_id() {
    let page = read(&json!({"jobs": [{"id": "job_1", "more": 1}]})).unwrap();
    let expected = ("job_1", &None);
    assert_eq!((page.jobs[0].id.as_str(), &page.jobs[0].status), expected);
    let found = read(&json!({"jobs": [{"id": null}]})).unwrap_err().at;
    assert_eq!(found, "jobs[0].id");
    assert!(read(&json!({"jobs": [{"status": "active"}]})).is_err());
}
