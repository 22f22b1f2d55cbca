use quillgate::{Method, Operation};
use quillgate_worker::upstream::failure::{KeyOutcome, UpstreamFailure, classify_error};
use quillgate_worker::upstream::head::UpstreamHead;
use quillgate_worker::upstream::refusal::{Refusal, is_missing};
use serde_json::json;

use super::{JSON, head, with_field};
use crate::fixtures::{NOW, configuration, summarize};

const CHALLENGE: &str = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>";
/// An error of Cloudflare, which the gateway receives because it accepts JSON.
const CLOUDFLARE: &str = r#"{"type":"https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/error-1010/","title":"Error 1010: Access denied","status":403,"detail":"The site owner has blocked access based on your browser's signature.","error_code":1010,"cloudflare_error":true}"#;

fn refusal(status: u16, content_type: Option<&str>, body: &str) -> Option<Refusal> {
    Refusal::classify(&head(status, content_type), body)
}

/// Returns the refusal for a message in Mintlify's format, sent with any content type.
fn of_message(status: u16, message: &str) -> Option<Refusal> {
    let body = json!({ "error": message }).to_string();
    let found = refusal(status, JSON, &body);
    for content_type in [
        None,
        Some("text/plain"),
        Some("application/json; charset=utf-8"),
    ] {
        assert_eq!(refusal(status, content_type, &body), found, "{message}");
    }
    found
}

#[test]
fn message_about_a_plan_is_not_about_the_key() {
    for message in [
        "Please upgrade your plan to use the API",
        "This feature requires a paid subscription",
        "The agent is only available on the Enterprise tier",
        "Not included in this project's plan",
        "Invalid API key: upgrade required",
    ] {
        for status in [401, 403] {
            let expected = Some(Refusal::Plan);
            assert_eq!(of_message(status, message), expected, "{message}");
        }
    }
    let expected = Some(Refusal::Plan);
    assert_eq!(of_message(402, "Payment required: billing"), expected);
    let nested = r#"{"error":"Unauthorized","details":[{"message":"Upgrade your plan"}]}"#;
    assert_eq!(refusal(401, JSON, nested), Some(Refusal::Plan));
}

#[test]
fn message_about_a_key_rejects_the_key() {
    for message in [
        "Invalid API key",
        "API key has expired",
        "API key of this project was revoked",
        "API key is limited to read access",
        "Unauthorized",
        "Forbidden",
        "",
    ] {
        for status in [401, 403] {
            assert_eq!(of_message(status, message), Some(Refusal::Key), "{message}");
        }
    }
    for body in ["{}", r#"{"error":"a","error":"b"}"#, r#"{"error":"cut o"#] {
        assert_eq!(refusal(401, JSON, body), Some(Refusal::Key), "{body}");
    }
    assert_eq!(refusal(401, None, ""), Some(Refusal::Key));
}

#[test]
fn a_401_in_plain_text_is_a_refusal_of_mintlify() {
    let html = Some("text/html; charset=utf-8");
    for (content_type, body, expected) in [
        (Some("text/plain"), "Unauthorized", Refusal::Key),
        (html, "Unauthorized", Refusal::Key),
        (JSON, "\"Unauthorized\"", Refusal::Key),
        (JSON, r#"["Unauthorized"]"#, Refusal::Key),
        (JSON, "null", Refusal::Key),
        (Some("text/plain"), "", Refusal::Key),
        (Some("text/plain"), "Upgrade your plan", Refusal::Plan),
        (Some("text/plain"), "Project not found", Refusal::Project),
    ] {
        let found = refusal(401, content_type, body);
        assert_eq!(found, Some(expected), "{content_type:?} {body}");
    }
    let found = refusal(403, Some("text/plain"), "Forbidden");
    assert_eq!(found, Some(Refusal::Network));
}

#[test]
fn message_about_a_project_rejects_the_project() {
    for message in [
        "Invalid project ID",
        "Project not found",
        "API key has no access to this project",
        "The project growth-plan does not exist",
        "Couldn’t find deployment",
        "No such project: demo-docs",
        "The project ID 'demo-docs' is invalid",
        "You do not have access to the project",
        "Project demo-docs doesn't exist",
    ] {
        for status in [400, 401, 403, 404] {
            let found = of_message(status, message);
            assert_eq!(found, Some(Refusal::Project), "{status} {message}");
        }
    }
    for message in [
        "Job not found",
        "Job not found in this project",
        "Agent run not found in this project",
        "ref does not exist in this project's repository",
        "The limit of project demo-docs is invalid",
        "Invalid project settings",
        "Thread not found",
    ] {
        for status in [400, 404] {
            assert_eq!(of_message(status, message), None, "{status} {message}");
        }
    }
    assert_eq!(of_message(500, "Project not found"), None);
    for status in [400, 404, 422] {
        for body in [
            r#"{"error":"Invalid request","details":["project not found"]}"#,
            r#"{"error":"Invalid request","message":"unknown value of projects"}"#,
            r#"{"error":"Not found","project":"invalid"}"#,
        ] {
            assert_eq!(refusal(status, JSON, body), None, "{status} {body}");
        }
        for body in [
            r#"{"error":"Not found","message":"Project not found"}"#,
            r#"{"error":{"message":"Project not found"}}"#,
        ] {
            let found = refusal(status, JSON, body);
            assert_eq!(found, Some(Refusal::Project), "{status} {body}");
        }
    }
}

#[test]
fn page_or_error_of_cloudflare_comes_from_the_network() {
    for status in [401, 403] {
        for (content_type, body) in [
            (Some("text/html; charset=UTF-8"), CHALLENGE),
            (None, CHALLENGE),
            (Some("text/html"), ""),
            (Some("text/plain"), "error code: 1010"),
            (JSON, CLOUDFLARE),
            (JSON, r#"{"error":"error code: 1020"}"#),
        ] {
            let found = refusal(status, content_type, body);
            assert_eq!(found, Some(Refusal::Network), "{status} {body}");
        }
    }
    for body in ["", "Upgrade your plan", "\"Forbidden\""] {
        assert_eq!(refusal(403, None, body), Some(Refusal::Network), "{body}");
    }
    for status in [200, 302, 404, 429, 500, 503] {
        let found = refusal(status, Some("text/html"), CHALLENGE);
        assert_eq!(found, None, "{status}");
    }
}

#[test]
fn cf_mitigated_identifies_the_network_and_cf_ray_does_not() {
    let plan = r#"{"error":"Upgrade your plan"}"#;
    let with = |name, value| with_field(head(403, JSON), name, Some(value));
    let mitigated = with("cf-mitigated", "challenge");
    assert_eq!(Refusal::classify(&mitigated, plan), Some(Refusal::Network));
    let passed = with("cf-ray", "9a1b2c3d4e5f-FRA");
    assert_eq!(Refusal::classify(&passed, plan), Some(Refusal::Plan));
}

#[test]
fn only_a_404_of_mintlify_means_that_a_job_is_missing() {
    let is_missing = |status, body| is_missing(&head(status, JSON), body);
    for body in [
        "{}",
        r#"{"error":"Job not found"}"#,
        r#"{"error":"Not found"}"#,
        r#"{"error":"Agent run not found in this project"}"#,
    ] {
        assert!(is_missing(404, body), "{body}");
        assert!(!is_missing(403, body), "{body}");
    }
    for body in [
        r#"{"error":"Project not found"}"#,
        "<h1>404</h1>",
        "error code: 1042",
        CLOUDFLARE,
        "",
    ] {
        assert!(!is_missing(404, body), "{body}");
    }
}

fn failure(head: &UpstreamHead, body: &str) -> UpstreamFailure {
    classify_error(head, body, Method::Get, &configuration().upstream, NOW)
}

#[test]
fn each_refusal_has_its_problem_and_its_message_for_the_operator() {
    let plan = r#"{"error":"Please upgrade your plan"}"#;
    let project = r#"{"error":"Project not found"}"#;
    let key = r#"{"error":"API key has expired"}"#;
    for (status, body, kind, quoted) in [
        (401, plan, "plan", "Please upgrade your plan"),
        (404, project, "project", "Project not found"),
        (401, key, "credential", "API key has expired"),
        (403, CHALLENGE, "blocked", "Just a moment..."),
        (403, CLOUDFLARE, "blocked", "Error 1010: Access denied"),
        (403, "error code: 1010", "blocked", "error code: 1010"),
    ] {
        let failure = failure(&head(status, None), body);
        let (problem, is_fault) = (&failure.problem, kind == "blocked");
        let type_uri = format!("/problems/upstream-{kind}");
        assert_eq!((problem.status, problem.kind.type_uri()), (502, type_uri));
        let is_bare = problem.members.is_empty() && problem.headers.is_empty();
        assert!(is_bare, "{problem:?}");
        assert!(!problem.detail.contains(quoted), "{kind}");
        let operator = problem.operator.as_deref().unwrap();
        assert!(operator.contains(quoted), "{operator}");
        assert_eq!(problem.detail.contains("key"), kind == "credential");
        assert_eq!(failure.key_outcome, KeyOutcome::Release, "{kind}");
        assert_eq!(failure.is_fault, is_fault, "{kind}");
        assert_eq!(failure.counts_against_upstream(), is_fault, "{kind}");
        assert_eq!(failure.is_temporary(), is_fault, "{kind}");
        assert!(!failure.is_missing, "{kind}");
    }
}

#[test]
fn message_for_the_operator_is_short_and_has_the_ray() {
    let head = with_field(head(403, None), "cf-ray", Some("9a1b2c3d4e5f-FRA"));
    let long = failure(&head, &"x ".repeat(30_000));
    let operator = long.problem.operator.unwrap();
    assert!(operator.len() < 1000, "{operator}");
    assert!(operator.contains("9a1b2c3d4e5f-FRA"), "{operator}");
    let hidden = with_field(head, "cf-ray", Some("mint_key"));
    let operator = failure(&hidden, "").problem.operator.unwrap();
    for part in ["cf-ray: none", "forbidden"] {
        assert!(operator.contains(part), "{operator}");
    }
}

#[test]
fn deployment_that_is_not_found_does_not_reject_the_project() {
    let (get, job) = (Operation::GetDeployment, Operation::GetAgentJob);
    let not_found = "404 deployment-not-found";
    let no_access = "The API key has no access to this project";
    for (status, message, operation, expected, is_missing) in [
        (404, "Deployment not found", get, not_found, true),
        (404, "Project not found", get, not_found, true),
        (404, "Update status not found", get, not_found, true),
        (403, no_access, get, "502 upstream-project", false),
        (404, "Project not found", job, "502 upstream-project", false),
    ] {
        let body = json!({ "error": message }).to_string();
        let failure = failure(&head(status, JSON), &body).of_operation(operation, status);
        assert_eq!(summarize(&failure.problem), expected, "{message}");
        assert_eq!(failure.is_missing, is_missing, "{message}");
    }
}
