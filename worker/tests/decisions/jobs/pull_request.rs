//! Pull requests on GitHub.

mod cache;
mod failure;
mod settings;

use quillgate::Millis;
use quillgate_worker::jobs::pull_request::{
    ChecksState, PullReply, PullRequest, PullRequestState, PullRequestStatus, read_checks,
};
use serde_json::{Value, json};

use crate::fixtures::change;

const SHA: &str = "3f1c9d2f0b7d4a6f8e5c1b2a3d4e5f60718293a4";

fn parse(link: &str) -> Option<String> {
    PullRequest::parse(link).map(|request| request.target())
}

/// Returns GitHub's JSON for an open pull request, with the properties in `changes` replaced.
fn pull(changes: &[(&str, Value)]) -> String {
    let pull = json!({
        "number": 12,
        "state": "open",
        "draft": false,
        "merged": false,
        "merged_at": null,
        "head": { "ref": "docs", "sha": SHA },
        "body": "Fixes a typo",
    });
    let mut pull = pull;
    for (name, value) in changes {
        pull = change(pull, name, Some(value.clone()));
    }
    pull.to_string()
}

fn checks(total: usize, runs: &[(&str, Value)]) -> Option<ChecksState> {
    let run = |(status, conclusion): &(&str, Value)| json!({ "name": "build", "status": status, "conclusion": conclusion });
    let runs: Vec<_> = runs.iter().map(run).collect();
    read_checks(&json!({ "total_count": total, "check_runs": runs }).to_string())
}

fn completed(conclusion: &str) -> (&'static str, Value) {
    ("completed", conclusion.into())
}

#[test]
fn links_to_pull_requests_on_github_are_parsed() {
    for (link, target) in [
        (
            "https://github.com/acme/docs/pull/12",
            "/repos/acme/docs/pulls/12",
        ),
        (
            "https://GITHUB.com/Acme-1_corp/.docs_v2.x/pull/1234567890/files",
            "/repos/Acme-1_corp/.docs_v2.x/pulls/1234567890",
        ),
    ] {
        assert_eq!(parse(link).as_deref(), Some(target), "{link:?}");
    }
}

/// The tests of the core have further links that are not parsed.
#[test]
fn links_to_other_hosts_and_pages_are_rejected() {
    for link in [
        "https://github.com/acme/docs/issues/12",
        "https://github.com/acme/docs/-/merge_requests/12",
        "https://github.com/acme/docs/pull-requests/12",
        "https://www.github.com/acme/docs/pull/12",
        "https://github.com.evil.example/acme/docs/pull/12",
        "https://github.com:8443/acme/docs/pull/12",
        "https://git.acme.example/acme/docs/pull/12",
    ] {
        assert_eq!(parse(link), None, "{link}");
    }
}

#[test]
fn the_link_of_a_job_is_found() {
    let link = "https://github.com/acme/docs/pull/12";
    let of = |job: &Value| PullRequest::of_job(&job.to_string()).map(|found| found.to_string());
    assert_eq!(
        of(&json!({ "id": "j1", "prLink": link })).as_deref(),
        Some("acme/docs#12")
    );
    for job in [
        json!({ "id": "j1" }),
        json!({ "prLink": null }),
        json!({ "prLink": ["x"] }),
        json!([]),
    ] {
        assert_eq!(of(&job), None, "{job}");
    }
    assert_eq!(PullRequest::of_job("{"), None);
}

#[test]
fn pull_requests_are_open_merged_or_closed() {
    let merged_at = ("merged_at", "2026-01-01T00:00:00Z".into());
    for (changes, state, is_draft) in [
        (vec![], PullRequestState::Open, false),
        (vec![("draft", true.into())], PullRequestState::Open, true),
        (vec![("draft", Value::Null)], PullRequestState::Open, false),
        (
            vec![("state", "closed".into()), ("draft", true.into())],
            PullRequestState::Closed,
            false,
        ),
        (
            vec![("state", "closed".into()), merged_at],
            PullRequestState::Merged,
            false,
        ),
    ] {
        let reply = PullReply::read(&pull(&changes)).unwrap();
        let found = (reply.status.state, reply.status.is_draft);
        assert_eq!(found, (state, is_draft), "{changes:?}");
        let has_checks = state == PullRequestState::Open;
        assert_eq!(reply.commit.is_some(), has_checks, "{changes:?}");
    }
}

#[test]
fn other_bodies_are_not_pull_requests() {
    for text in [
        String::new(),
        "<html>".to_owned(),
        "[]".to_owned(),
        r#"{"message":"Not Found"}"#.to_owned(),
        pull(&[("state", "locked".into())]),
        pull(&[("head", Value::Null)]),
    ] {
        assert_eq!(PullReply::read(&text), None, "{text}");
    }
}

#[test]
fn only_hexadecimal_commit_ids_are_part_of_a_request() {
    let request = PullRequest::parse("https://github.com/acme/docs/pull/12").unwrap();
    let target = |sha: &str| {
        let reply = PullReply::read(&pull(&[("head", json!({ "sha": sha }))])).unwrap();
        reply.commit.map(|commit| request.checks_target(&commit))
    };
    let expected = format!("/repos/acme/docs/commits/{SHA}/check-runs?per_page=100");
    assert_eq!(target(SHA), Some(expected));
    assert!(target(&"a".repeat(64)).is_some());
    for sha in ["", "main", "../../x", &SHA[1..], &format!("{}/", &SHA[1..])] {
        assert_eq!(target(sha), None, "{sha}");
    }
}

#[test]
fn checks_pass_when_each_one_succeeded_or_was_skipped() {
    let runs = [
        completed("success"),
        completed("neutral"),
        completed("skipped"),
    ];
    assert_eq!(checks(3, &runs), Some(ChecksState::Passing));
    assert_eq!(checks(0, &[]), None);
}

#[test]
fn one_failed_check_fails_and_one_unfinished_check_is_pending() {
    for conclusion in [
        "failure",
        "timed_out",
        "cancelled",
        "action_required",
        "startup_failure",
        "stale",
    ] {
        let runs = [
            completed("success"),
            ("queued", Value::Null),
            completed(conclusion),
        ];
        assert_eq!(checks(3, &runs), Some(ChecksState::Failing), "{conclusion}");
    }
    for status in ["queued", "in_progress", "waiting", "requested", "pending"] {
        let runs = [completed("success"), (status, Value::Null)];
        assert_eq!(checks(2, &runs), Some(ChecksState::Pending), "{status}");
    }
}

#[test]
fn checks_do_not_pass_while_some_are_unknown() {
    assert_eq!(checks(101, &[completed("success")]), None);
    assert_eq!(checks(2, &[completed("success"), completed("new")]), None);
    assert_eq!(checks(1, &[("completed", Value::Null)]), None);
    assert_eq!(
        checks(101, &[completed("failure")]),
        Some(ChecksState::Failing)
    );
    assert_eq!(read_checks("{}"), None);
    assert_eq!(read_checks("<html>"), None);
}

#[test]
fn an_open_pull_request_is_fresh_for_a_minute_and_a_merged_one_for_an_hour() {
    let fresh_for = |state| {
        let status = PullRequestStatus {
            state,
            ..PullRequestStatus::UNKNOWN
        };
        status.fresh_for()
    };
    let open = fresh_for(PullRequestState::Open);
    let closed = fresh_for(PullRequestState::Closed);
    let merged = fresh_for(PullRequestState::Merged);
    assert_eq!(open, Millis::from_seconds(60));
    assert_eq!(closed, Millis::from_seconds(600));
    assert_eq!(merged, Millis::from_seconds(3_600));
}

#[test]
fn a_status_is_returned_as_json() {
    let status = PullRequestStatus {
        state: PullRequestState::Open,
        is_draft: true,
        checks: Some(ChecksState::Passing),
        merged_at: None,
    };
    let merged = PullReply::read(&pull(&[
        ("state", "closed".into()),
        ("merged_at", "2026-11-20T08:30:00Z".into()),
    ]));
    for (status, expected) in [
        (
            status,
            json!({ "state": "open", "isDraft": true, "checks": "passing", "mergedAt": null }),
        ),
        (
            merged.unwrap().status,
            json!({
                "state": "merged",
                "isDraft": false,
                "checks": null,
                "mergedAt": "2026-11-20T08:30:00.000Z",
            }),
        ),
        (
            PullRequestStatus::UNKNOWN,
            json!({ "state": "unknown", "isDraft": false, "checks": null, "mergedAt": null }),
        ),
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), expected);
    }
}
