use quillgate::{Endpoint, JobAuthor, JobPageSize, JobStatus, ListAgentJobs, PromptText, Rule};
use serde_json::json;

use crate::operations::project;
use crate::parameters::query;

fn target(list: &ListAgentJobs) -> String {
    list.request(&project()).target
}

#[test]
fn a_request_without_parameters_leaves_the_defaults_to_the_gateway() {
    assert_eq!(target(&ListAgentJobs::default()), "/v2/agent/acme/jobs");
    assert_eq!(JobPageSize::DEFAULT.get(), 25);
}

#[test]
fn filters_are_sent_percent_encoded_before_the_limit() {
    let mut list = ListAgentJobs::default();
    list.state = Some(JobStatus::Failed);
    list.author = Some(JobAuthor::new("ana@example.org").unwrap());
    list.text = Some(PromptText::new("100% & more").unwrap());
    list.limit = Some(JobPageSize::MAX);
    let expected = "?state=failed&author=ana%40example.org&text=100%25%20%26%20more&limit=100";
    assert_eq!(target(&list), format!("/v2/agent/acme/jobs{expected}"));
    let parsed = ListAgentJobs::parse(&json!({
        "state": "failed",
        "author": "ana@example.org",
        "text": "100% & more",
        "limit": 100,
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
