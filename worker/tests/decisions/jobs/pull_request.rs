//! Pull requests on GitHub.

mod cache;
mod failure;
mod pull_request_settings;

use quillgate::Millis;
use quillgate_worker::jobs::pull_request::{PullRequest, PullRequestState, PullRequestStatus};
use serde_json::{Value, json};

use crate::fixtures::change;

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
        "head": { "ref": "docs", "sha": "3f1c9d2f0b7d4a6f8e5c1b2a3d4e5f60718293a4" },
        "body": "Fixes a typo",
    });
    let mut pull = pull;
    for (name, value) in changes {
        pull = change(pull, name, Some(value.clone()));
    }
    pull.to_string()
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
        let status = PullRequestStatus::read(&pull(&changes)).unwrap();
        let found = (status.state, status.is_draft);
        assert_eq!(found, (state, is_draft), "{changes:?}");
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
        pull(&[("state", Value::Null)]),
    ] {
        assert_eq!(PullRequestStatus::read(&text), None, "{text}");
    }
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
        merged_at: None,
    };
    let merged = PullRequestStatus::read(&pull(&[
        ("state", "closed".into()),
        ("merged_at", "2026-11-20T08:30:00Z".into()),
    ]));
    for (status, expected) in [
        (
            status,
            json!({ "state": "open", "isDraft": true, "mergedAt": null }),
        ),
        (
            merged.unwrap(),
            json!({
                "state": "merged",
                "isDraft": false,
                "mergedAt": "2026-11-20T08:30:00.000Z",
            }),
        ),
        (
            PullRequestStatus::UNKNOWN,
            json!({ "state": "unknown", "isDraft": false, "mergedAt": null }),
        ),
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), expected);
    }
}
