use quillgate::{Operation, RateLimitPolicy};
use quillgate_worker::app::admission::Admission;
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::budget::limits::Limits;
use quillgate_worker::budget::read_budget::ReadBudget;
use quillgate_worker::budget::{counts_refusals, is_of_organization};
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::jobs::resource::Resource;
use quillgate_worker::jobs::write::Write;

use super::{admit, expect_refusal, get, post, read_write, refusal, with_scope};
use crate::fixtures::{admit_counted, configuration, configure, field_and_rule, summarize};

const UPDATE: &str = "https://gate.example/v1/project/update/demo-docs";
const PREVIEW: &str = "https://gate.example/v1/project/preview/demo-docs";
const STATUS: &str = "https://gate.example/v1/project/update-status/d1";
const LIST: &str = "https://gate.example/v1/project/demo-docs/deployments";
const TRIGGER: &str = "https://gate.example/v1/workflow/demo-docs/weekly/trigger";
const SCOPES: &str = "deployments:create deployments:read automations:run";

fn bearer() -> String {
    with_scope(SCOPES)
}

#[track_caller]
fn write(url: &str, headers: &HeaderFields, body: &[u8]) -> Write {
    let bearer = bearer();
    let head = post(url, &bearer).content_type((!body.is_empty()).then_some("application/json"));
    let outcome = admit(&head);
    outcome.result.unwrap();
    read_write(&configuration(), outcome.facts, &head, headers, body).unwrap()
}

#[test]
fn deployment_needs_no_body() {
    let none = HeaderFields::default();
    for body in [&b""[..], b"{}"] {
        let deployment = write(UPDATE, &none, body);
        assert_eq!(deployment.operation, Operation::CreateDeployment);
        assert_eq!(deployment.resource(), Resource::Deployment);
        assert_eq!(deployment.target, "/v1/project/update/demo-docs");
        assert_eq!(deployment.body, None);
        assert_eq!(deployment.budget.policy, RateLimitPolicy::CreateDeployment);
    }
    let preview = write(PREVIEW, &none, br#"{"branch":"docs/x"}"#);
    assert_eq!(preview.branch.as_deref(), Some("docs/x"));
    assert_eq!(preview.body.as_deref(), Some(r#"{"branch":"docs/x"}"#));
    let run = write(TRIGGER, &none, b"");
    assert_eq!(run.target, "/v1/workflow/demo-docs/weekly/trigger");
    assert_eq!(run.budget.policy, RateLimitPolicy::CreateDeployment);
}

#[test]
fn preview_needs_a_body_that_is_json() {
    let bearer = bearer();
    let head = post(PREVIEW, &bearer).content_type(None);
    assert_eq!(refusal(&head), "415 unsupported-media-type");
}

#[test]
fn status_needs_its_scope_in_any_project() {
    let outcome = admit(&get(STATUS, &bearer()));
    let endpoint = Endpoint::Operation(Operation::GetDeployment);
    assert!(matches!(outcome.result, Ok(Admission::Admitted(own)) if own == endpoint));
    assert_eq!(outcome.facts.project, None);
    let call = outcome.facts.call.unwrap();
    assert_eq!(call.text("statusId"), Some("d1"));
    let bearer = with_scope("deployments:create jobs:read");
    assert_eq!(refusal(&get(STATUS, &bearer)), "403 insufficient-scope");
}

#[test]
fn reads_of_deployments_have_a_count_of_their_own() {
    let config = configure(&[("READ_LIMIT_PER_HOUR", Some("1"))]);
    let bearer = with_scope(&format!("{SCOPES} jobs:read"));
    let mut reads = ReadBudget::default();
    let mut read = |url: &str| {
        let outcome = admit_counted(&config, &get(url, &bearer), None, &mut reads);
        outcome.result.map(drop)
    };
    read(super::JOBS).unwrap();
    read(LIST).unwrap();
    // A status belongs to no project, so it has another count than the list of one.
    read(STATUS).unwrap();
    for url in [LIST, STATUS] {
        let refused = read(url).unwrap_err();
        assert_eq!(summarize(&refused), "429 quota-exceeded");
    }
}

#[test]
fn cursor_of_another_list_is_refused() {
    let refused = expect_refusal(&get(&format!("{LIST}?cursor=x"), &bearer()));
    assert_eq!(field_and_rule(&refused), ["cursor", "cursor"]);
}

#[test]
fn windows_are_those_of_mintlify() {
    let limits = Limits::read(&|_| None).unwrap();
    for policy in RateLimitPolicy::ALL {
        let (max, seconds) = match policy {
            RateLimitPolicy::CreateDeployment => (10, 10),
            RateLimitPolicy::CreatePreview => (5, 60),
            RateLimitPolicy::ReadJobs | RateLimitPolicy::ReadDeployments => (6000, 3600),
            _ => (100, 3600),
        };
        let window = limits.window(policy).0 / 1000;
        assert_eq!((limits.limit(policy), window), (max, seconds), "{policy:?}");
    }
    let shared = RateLimitPolicy::ALL.map(is_of_organization);
    assert_eq!(shared, [false, false, true, false, true, true, false]);
    let short = RateLimitPolicy::ALL.map(counts_refusals);
    assert_eq!(short, [false, false, false, false, true, true, false]);
}
