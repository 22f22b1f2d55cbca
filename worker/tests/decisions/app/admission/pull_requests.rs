//! Reads of a job's pull request.

use quillgate::{ProjectId, RateLimitPolicy};
use quillgate_worker::app::routes::Endpoint;
use serde_json::json;

use super::{admit, bare, expect_refusal, get, pair};
use crate::fixtures::{bearer, bearer_of, claims_with, field_and_rule, status_and_kind};

const URL: &str = "https://gate.example/v2/agent/demo-docs/job/j1/pull-request";

#[test]
fn a_read_needs_the_project_and_jobs_read() {
    let outcome = admit(&get(URL, &bearer()));
    let project = outcome.facts.project.as_ref().map(ProjectId::as_str);
    assert_eq!(project, Some("demo-docs"));
    assert_eq!(
        outcome.facts.route,
        Some("/v2/agent/{projectId}/job/{id}/pull-request")
    );
    assert_eq!(outcome.facts.policy, Some(RateLimitPolicy::ReadJobs));
    assert_eq!(outcome.facts.call.as_ref().unwrap().text("id"), Some("j1"));
    assert_eq!(outcome.endpoint(), Ok(Endpoint::PullRequest));
    let writer = bearer_of(&claims_with("scope", Some(json!("jobs:create"))));
    let stranger = bearer_of(&claims_with("projects", Some(json!(["other docs"]))));
    for (authorization, expected) in [
        (writer, (403, "insufficient-scope")),
        (stranger, (403, "project-not-allowed")),
        ("Bearer x".to_owned(), (401, "invalid-token")),
    ] {
        let problem = expect_refusal(&get(URL, &authorization));
        assert_eq!(status_and_kind(&problem), expected);
    }
    let problem = expect_refusal(&bare("GET", URL));
    assert_eq!(status_and_kind(&problem), (401, "missing-token"));
}

#[test]
fn only_reads_without_a_query_are_allowed() {
    for method in ["POST", "PUT", "DELETE"] {
        let problem = expect_refusal(&bare(method, URL));
        assert_eq!(status_and_kind(&problem), (405, "method-not-allowed"));
        let allow = ("allow", "GET, HEAD, OPTIONS".to_owned());
        assert_eq!(problem.headers, [allow]);
    }
    let options = admit(&bare("OPTIONS", URL));
    assert_eq!(options.allowed_methods(), "GET, HEAD, OPTIONS");
    let problem = expect_refusal(&get(&format!("{URL}?fresh=1"), &bearer()));
    assert_eq!(field_and_rule(&problem), pair("fresh", "unknown"));
}

#[test]
fn disguised_paths_are_rejected() {
    let disguised = URL.replace("/j1/", "/j%2f1/");
    let problem = expect_refusal(&get(&disguised, &bearer()));
    assert_eq!(field_and_rule(&problem), pair("id", "path-segment"));
    for url in [
        format!("{URL}/"),
        URL.replace("/j1/", "//"),
        URL.replace("/job/", "/jobs/"),
        URL.replace("-request", "-requests"),
    ] {
        let problem = expect_refusal(&get(&url, &bearer()));
        assert_eq!(status_and_kind(&problem), (404, "not-found"), "{url}");
    }
}
