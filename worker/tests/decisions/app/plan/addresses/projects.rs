//! Property tests with generated URLs. A planned request stays within the projects of its token.
//! The gateway accepts harmless paths in these projects.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use quillgate::{Endpoint as _, GetAgentJob, JobId, ProjectId};
use quillgate_worker::app::action::Action;
use quillgate_worker::app::plan::Plan;
use quillgate_worker::http::response::HeaderFields;

use super::super::{BODY, OPERATIONS, get, pair, plan, plan_body, post};
use crate::fixtures::{RequestHead, action_of, bearer, configuration, field_and_rule};

/// The projects of the [`bearer`] token, percent-encoded for a path.
const OWN: [&str; 2] = ["demo-docs", "other%20docs"];

/// Checks that the token grants `project`, and that the upstream request target `target` cannot
/// leave that project.
fn assert_own(target: &str, project: &str) -> Result<(), TestCaseError> {
    let path = target.split('?').next().unwrap_or_default();
    let project = project.replace(' ', "%20");
    prop_assert!(OWN.contains(&project.as_str()), "{}", project);
    let own = [
        format!("/v2/agent/{project}/job"),
        format!("/v1/analytics/{project}/views"),
    ];
    let prefix = own.iter().find(|own| {
        let rest = path.strip_prefix(own.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    prop_assert!(prefix.is_some(), "{}", path);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
    prop_assert!(path.bytes().all(plain), "{}", path);
    let mut segments = path.split('/').skip(1);
    prop_assert!(
        !segments.any(|segment| matches!(segment, "" | "." | "..")),
        "{}",
        path
    );
    for hidden in ["%2F", "%5C", "%25", "%3F", "%23", "%00", "%0D", "%0A"] {
        prop_assert!(!path.contains(hidden), "{}", path);
    }
    let query = &target[path.len()..];
    let mut names = query.split(['?', '&']).skip(1);
    let known = |pair: &str| pair.starts_with("dateFrom=") || pair.starts_with("dateTo=");
    prop_assert!(names.all(known), "{}", query);
    Ok(())
}

/// Checks that a request stays within the caller's projects. Returns whether the gateway accepts
/// the request.
fn assert_sent_within(head: &RequestHead<'_>) -> Result<bool, TestCaseError> {
    let Plan { facts, step } = plan(head);
    let Ok(action) = action_of(step) else {
        return Ok(false);
    };
    let Some(project) = &facts.project else {
        return Err(TestCaseError::fail("an action without a project"));
    };
    let project = project.as_str();
    let job_target = |id: &str| {
        let call = GetAgentJob::new(JobId::new(id).unwrap());
        call.request(&ProjectId::new(project).unwrap()).target
    };
    match action {
        Action::ReadReport(views) => assert_own(&views.list, project)?,
        Action::ReadJob(job)
        | Action::StreamEvents(Some(job))
        | Action::ReadRecord(job)
        | Action::DeleteRecord(job) => {
            assert_own(&job_target(job.as_str()), project)?;
        }
        Action::StreamEvents(None) => {
            prop_assert!(OWN.contains(&project.replace(' ', "%20").as_str()));
        }
        Action::ListJobs(query) => {
            prop_assert!((1..=100).contains(&query.limit));
            prop_assert!(OWN.contains(&project.replace(' ', "%20").as_str()));
        }
        Action::Write(..) => {
            let headers = HeaderFields::default();
            match plan_body(&configuration(), plan(head), head, &headers, BODY) {
                Ok((write, _)) => {
                    assert_own(&write.target, project)?;
                    prop_assert_eq!(write.body.as_bytes(), BODY);
                    let job = write.job.map(|id| format!("{}/message", job_target(&id)));
                    prop_assert!(job.is_none_or(|target| target == write.target));
                }
                Err(problem) => {
                    prop_assert_eq!(field_and_rule(&problem), pair("id", "not-dot-segment"));
                    return Ok(false);
                }
            }
        }
        _ => return Err(TestCaseError::fail("something else was decided")),
    }
    Ok(true)
}

/// Generates paths of operations whose project and job id are valid, disguised or arbitrary.
fn near_paths() -> impl Strategy<Value = String> {
    let project = "(demo-docs|other%20docs|%64emo-docs|secret|\\.\\.|%2e%2e|demo-docs%2f\\.\\.%2fsecret|demo-docs;x|demo-docs\\PC{0,2})";
    let id = "(j1|%6a1|j;1|\\.|\\.\\.|%2e%2e|%2e%2e%2fsecret|%252e|%5c|%00|events|\\PC{1,4}|[a-z%.;+]{1,6})";
    let at = 0..OPERATIONS.len();
    (at, project, id).prop_map(|(at, project, id)| {
        let (.., pattern) = OPERATIONS[at];
        pattern
            .replace("{projectId}", &project)
            .replace("{id}", &id)
    })
}

fn far_paths() -> impl Strategy<Value = String> {
    let segment = "(v2|v1|agent|analytics|jobs?|views|message|events|demo-docs|secret|j1|\\.\\.|%2e%2e|%2f|%5c|%00|\\PC{0,3})";
    let segments = prop::collection::vec(segment, 1..8);
    segments.prop_map(|segments| format!("/{}", segments.join("/")))
}

fn queries() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "\\?(limit=[0-9]{1,3})?(&offset=[0-9]{1,3})?(&dateFrom=2024-01-0[1-9])?(&dateTo=2024-02-0[1-9]T00:00Z)?",
        "\\?[a-zA-Z0-9=&%/.]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_planned_request_stays_within_the_callers_projects(
        path in prop_oneof![3 => near_paths(), 1 => far_paths()],
        query in queries(),
        is_post in any::<bool>(),
    ) {
        let url = format!("https://gate.example{path}{query}");
        let bearer = bearer();
        let head = if is_post { post(&url, &bearer) } else { get(&url, &bearer) };
        assert_sent_within(&head)?;
    }

    #[test]
    fn harmless_path_in_the_callers_project_is_sent(
        at in 0..OPERATIONS.len(),
        project in "(demo-docs|other%20docs|%64emo%2ddocs)",
        id in "[a-zA-Z0-9_~-]{1,9}",
    ) {
        let (method, _, _, pattern) = OPERATIONS[at];
        let path = pattern.replace("{projectId}", &project).replace("{id}", &id);
        let url = format!("https://gate.example{path}");
        let bearer = bearer();
        let head = RequestHead { method, ..post(&url, &bearer) };
        prop_assert!(assert_sent_within(&head)?, "{}", url);
    }
}
