use quillgate::RateLimitPolicy;
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::budget::read_budget::ReadBudget;
use quillgate_worker::http::problem::Problem;
use serde_json::json;

use super::{EVENTS, JOB, JOBS, VIEWS, admit, bare, expect_refusal, get, refusal, with_scope};
use crate::app::admission::callers::{issuers_bearer, trusting};
use crate::fixtures::{
    Outcome, admit_counted, bearer, bearer_of, claims_with, configure, field_and_rule, summarize,
};

/// Returns the number of reads that are left after an admitted request, such as `r=2`.
fn left(outcome: Outcome) -> Result<Option<String>, Problem> {
    outcome.result?;
    let field = outcome.facts.budget.get("ratelimit");
    let left = field.and_then(|field| field.split(';').nth(1));
    Ok(left.map(str::to_owned))
}

#[test]
fn only_an_admitted_read_of_jobs_counts() {
    let config = configure(&[("READ_LIMIT_PER_HOUR", Some("3"))]);
    let bearer = bearer();
    let mut reads = ReadBudget::default();
    let mut read = |url: &str| left(admit_counted(&config, &get(url, &bearer), None, &mut reads));
    let left = |count: u32| Ok(Some(format!("r={count}")));
    assert_eq!(read(JOBS), left(2));
    assert_eq!(read(VIEWS), Ok(None));
    let unread = read(&format!("{JOBS}?cursor=x")).unwrap_err();
    assert_eq!(field_and_rule(&unread)[0], "cursor");
    let foreign = read(&JOB.replace("demo-docs", "secret")).unwrap_err();
    assert_eq!(summarize(&foreign), "403 project-not-allowed");
    assert_eq!(read(JOB), left(1));
    assert_eq!(read(EVENTS), left(0));
    let refused = read(&format!("{JOB}/pull-request")).unwrap_err();
    assert_eq!(summarize(&refused), "429 quota-exceeded");
    // Another project has its own count.
    assert_eq!(read(&JOBS.replace("demo-docs", "other%20docs")), left(2));
}

#[test]
fn a_read_counts_once_although_its_caller_is_identified_first() {
    let config = trusting(&[("READ_LIMIT_PER_HOUR", Some("3"))]);
    let bearer = issuers_bearer(&json!({ "team": "docs" }));
    let mut reads = ReadBudget::default();
    for expected in ["r=2", "r=1", "r=0"] {
        let outcome = admit_counted(&config, &get(JOBS, &bearer), None, &mut reads);
        assert_eq!(left(outcome), Ok(Some(expected.to_owned())));
    }
}

const URL: &str = "https://gate.example/v2/agent/demo-docs/job/j1/pull-request";

#[test]
fn a_read_needs_the_project_and_jobs_read() {
    let outcome = admit(&get(URL, &bearer()));
    assert_eq!(outcome.project(), Some("demo-docs"));
    let route = Some("/v2/agent/{projectId}/job/{id}/pull-request");
    assert_eq!(outcome.facts.route, route);
    assert_eq!(outcome.facts.policy, Some(RateLimitPolicy::ReadJobs));
    assert_eq!(outcome.facts.call.as_ref().unwrap().text("id"), Some("j1"));
    assert_eq!(outcome.endpoint(), Ok(Endpoint::PullRequest));
    let writer = with_scope("jobs:create");
    let stranger = bearer_of(&claims_with("projects", Some(json!(["other docs"]))));
    for (authorization, expected) in [
        (writer, "403 insufficient-scope"),
        (stranger, "403 project-not-allowed"),
        ("Bearer x".to_owned(), "401 invalid-token"),
    ] {
        assert_eq!(refusal(&get(URL, &authorization)), expected);
    }
    assert_eq!(refusal(&bare("GET", URL)), "401 missing-token");
}

#[test]
fn only_reads_without_a_query_are_allowed() {
    for method in ["POST", "PUT", "DELETE"] {
        let problem = expect_refusal(&bare(method, URL));
        assert_eq!(summarize(&problem), "405 method-not-allowed");
        let allow = ("allow", "GET, HEAD, OPTIONS".to_owned());
        assert_eq!(problem.headers, [allow]);
    }
    let options = admit(&bare("OPTIONS", URL));
    assert_eq!(options.allowed_methods(), "GET, HEAD, OPTIONS");
    let problem = expect_refusal(&get(&format!("{URL}?fresh=1"), &bearer()));
    assert_eq!(field_and_rule(&problem), ["fresh", "unknown"]);
}

#[test]
fn disguised_paths_are_rejected() {
    let disguised = URL.replace("/j1/", "/j%2f1/");
    let problem = expect_refusal(&get(&disguised, &bearer()));
    assert_eq!(field_and_rule(&problem), ["id", "path-segment"]);
    for url in [
        format!("{URL}/"),
        URL.replace("/j1/", "//"),
        URL.replace("/job/", "/jobs/"),
        URL.replace("-request", "-requests"),
    ] {
        assert_eq!(refusal(&get(&url, &bearer())), "404 not-found", "{url}");
    }
}
