use quillgate::Millis;
use quillgate_worker::jobs::pull_request::pull_request_settings::PullRequestSettings;
use quillgate_worker::jobs::pull_request::{
    GitHubFailure, PullRequest, PullRequestCache, PullRequestState, PullRequestStatus,
};
use quillgate_worker::upstream::head::UpstreamHead;
use serde_json::{Value, json};

use crate::fixtures::{NOW, Predicate, SECONDS, at, change, configure};

fn parse(link: &str) -> Option<String> {
    PullRequest::parse(link).map(|request| request.target())
}

/// Returns GitHub's JSON for an open pull request, with the properties in `changes` replaced.
fn pull(changes: &[(&str, Value)]) -> String {
    let mut pull = json!({
        "number": 12,
        "state": "open",
        "draft": false,
        "merged": false,
        "merged_at": null,
        "head": { "ref": "docs", "sha": "3f1c9d2f0b7d4a6f8e5c1b2a3d4e5f60718293a4" },
        "body": "Fixes a typo",
    });
    for (name, value) in changes {
        pull = change(pull, name, Some(value.clone()));
    }
    pull.to_string()
}

#[test]
fn links_to_pull_requests_on_github_are_parsed() {
    let short = parse("https://github.com/acme/docs/pull/12");
    assert_eq!(short.as_deref(), Some("/repos/acme/docs/pulls/12"));
    let long = parse("https://GITHUB.com/Acme-1_corp/.docs_v2.x/pull/1234567890/files");
    let expected = Some("/repos/Acme-1_corp/.docs_v2.x/pulls/1234567890");
    assert_eq!(long.as_deref(), expected);
}

/// The tests of the core have further links that are not parsed.
#[test]
fn links_to_other_hosts_and_pages_are_rejected() {
    let is_link = |link: &str| parse(link).is_some();
    is_link.rejects(&[
        "https://github.com/acme/docs/issues/12",
        "https://github.com/acme/docs/-/merge_requests/12",
        "https://github.com/acme/docs/pull-requests/12",
        "https://www.github.com/acme/docs/pull/12",
        "https://github.com.evil.example/acme/docs/pull/12",
        "https://github.com:8443/acme/docs/pull/12",
        "https://git.acme.example/acme/docs/pull/12",
    ]);
}

#[test]
fn the_link_of_a_job_is_found() {
    let link = "https://github.com/acme/docs/pull/12";
    let of = |job: &Value| PullRequest::of_job(&job.to_string()).map(|found| found.target());
    let found = of(&json!({ "id": "j1", "prLink": link }));
    assert_eq!(found.as_deref(), Some("/repos/acme/docs/pulls/12"));
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
    use PullRequestState::{Closed, Merged, Open};
    let merged_at = ("merged_at", "2026-01-01T00:00:00Z".into());
    let closed = ("state", "closed".into());
    for (changes, state, is_draft) in [
        (vec![], Open, false),
        (vec![("draft", true.into())], Open, true),
        (vec![("draft", Value::Null)], Open, false),
        (vec![closed.clone(), ("draft", true.into())], Closed, false),
        (vec![closed, merged_at], Merged, false),
    ] {
        let status = PullRequestStatus::read(&pull(&changes)).unwrap();
        let found = (status.state, status.is_draft);
        assert_eq!(found, (state, is_draft), "{changes:?}");
    }
}

#[test]
fn other_bodies_are_not_pull_requests() {
    let is_pull = |text: &str| PullRequestStatus::read(text).is_some();
    is_pull.rejects(&[
        "",
        "<html>",
        "[]",
        r#"{"message":"Not Found"}"#,
        &pull(&[("state", "locked".into())]),
        &pull(&[("state", Value::Null)]),
    ]);
}

#[test]
fn an_open_pull_request_is_fresh_for_a_minute_and_a_merged_one_for_an_hour() {
    for (state, seconds) in [
        (PullRequestState::Open, 60),
        (PullRequestState::Closed, 600),
        (PullRequestState::Merged, 3_600),
    ] {
        let status = PullRequestStatus { state, ..UNKNOWN };
        assert_eq!(status.fresh_for(), Millis::from_seconds(seconds));
    }
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
    let merged_at = "2026-11-20T08:30:00.000Z";
    for (status, state, is_draft, merged_at) in [
        (status, "open", true, None),
        (merged.unwrap(), "merged", false, Some(merged_at)),
        (PullRequestStatus::UNKNOWN, "unknown", false, None),
    ] {
        let expected = json!({ "state": state, "isDraft": is_draft, "mergedAt": merged_at });
        assert_eq!(serde_json::to_value(status).unwrap(), expected);
    }
}

const UNKNOWN: PullRequestStatus = PullRequestStatus::UNKNOWN;
const OPEN: PullRequestStatus = PullRequestStatus {
    state: PullRequestState::Open,
    ..UNKNOWN
};
const MERGED: PullRequestStatus = PullRequestStatus {
    state: PullRequestState::Merged,
    ..UNKNOWN
};

fn request(number: usize) -> PullRequest {
    PullRequest::parse(&format!("https://github.com/acme/docs/pull/{number}")).unwrap()
}

/// Returns a cache in which a fetch of pull request 1 ended with `result` at [`NOW`].
fn cache_with(result: Result<PullRequestStatus, GitHubFailure>) -> PullRequestCache {
    let mut cache = PullRequestCache::default();
    assert_eq!(cache.find(&request(1), NOW), None);
    cache.conclude(&request(1), result, NOW);
    cache
}

#[test]
fn a_status_is_cached_while_it_is_fresh() {
    for (status, seconds) in [(OPEN, 60), (MERGED, 3_600)] {
        let cache = cache_with(Ok(status.clone()));
        let last = at(seconds - 1);
        assert_eq!(cache.find(&request(1), last), Some(status));
        assert_eq!(cache.find(&request(2), last), None);
        assert_eq!(cache.find(&request(1), at(seconds)), None);
    }
}

#[test]
fn a_failure_is_cached_as_unknown_for_its_pull_request_only() {
    for (failure, seconds) in [
        (GitHubFailure::Failed, 60),
        (GitHubFailure::Refused(404), 600),
    ] {
        let cache = cache_with(Err(failure));
        let last = at(seconds - 1);
        assert_eq!(cache.find(&request(1), last), Some(UNKNOWN));
        assert_eq!(cache.find(&request(2), last), None);
        assert_eq!(cache.find(&request(1), at(seconds)), None);
    }
}

#[test]
fn a_limit_pauses_requests_for_all_pull_requests() {
    let mut cache = cache_with(Ok(OPEN));
    for limit in [at(120), at(60)] {
        cache.conclude(&request(2), Err(GitHubFailure::Limited(limit)), NOW);
    }
    assert_eq!(cache.find(&request(1), at(59)), Some(OPEN));
    for number in 1..=3 {
        assert_eq!(cache.find(&request(number), at(119)), Some(UNKNOWN));
        assert_eq!(cache.find(&request(number), at(120)), None);
    }
}

fn classify(status: u16, fields: &[(&str, &str)]) -> Option<GitHubFailure> {
    classify_with(status, fields, r#"{"message":"Resource not accessible"}"#)
}

fn classify_with(status: u16, fields: &[(&str, &str)], body: &str) -> Option<GitHubFailure> {
    let fields = fields
        .iter()
        .map(|(name, value)| (String::from(*name), String::from(*value)));
    let headers = fields.collect();
    GitHubFailure::of_response(&UpstreamHead { status, headers }, body, NOW)
}

#[test]
fn only_200_is_a_success() {
    assert_eq!(classify(200, &[]), None);
    for status in [301, 302, 307, 400, 401, 403, 404, 410, 451] {
        assert_eq!(classify(status, &[]), Some(GitHubFailure::Refused(status)));
    }
    for status in [201, 204, 500, 502, 503] {
        assert_eq!(classify(status, &[]), Some(GitHubFailure::Failed));
    }
}

#[test]
fn a_rate_limit_pauses_requests_until_the_time_in_the_response() {
    let reset = &*(SECONDS + 900).to_string();
    let spent = ("x-ratelimit-remaining", "0");
    let longest = "18446744073709551615";
    for (status, fields, until) in [
        (403, vec![("retry-after", "120")], at(120)),
        (429, vec![("retry-after", "120")], at(120)),
        (403, vec![spent, ("x-ratelimit-reset", reset)], at(900)),
        (429, vec![spent, ("x-ratelimit-reset", reset)], at(900)),
        // The pause is at least a minute, as GitHub requires, and at most an hour, the window of
        // its primary rate limits.
        (429, vec![], at(60)),
        (403, vec![spent], at(60)),
        (403, vec![("retry-after", "1")], at(60)),
        (429, vec![("retry-after", "soon")], at(60)),
        (429, vec![("retry-after", "99999999999999999999")], at(60)),
        (429, vec![("retry-after", longest)], at(3_600)),
        (403, vec![spent, ("x-ratelimit-reset", "0")], at(60)),
    ] {
        let expected = Some(GitHubFailure::Limited(until));
        assert_eq!(classify(status, &fields), expected, "{status} {fields:?}");
    }
}

#[test]
fn a_secondary_rate_limit_is_found_in_the_body() {
    let reset = &*(SECONDS + 900).to_string();
    let unspent = [
        ("x-ratelimit-remaining", "42"),
        ("x-ratelimit-reset", reset),
    ];
    let classify = |status, body: &str| classify_with(status, &unspent, body);
    let limited = Some(GitHubFailure::Limited(at(60)));
    for body in [
        r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}"#,
        r#"{"message":"You have triggered an Abuse Detection mechanism."}"#,
        r#"{"message":"API rate limit exceeded for user ID 1."}"#,
        "<p>You have exceeded a SECONDARY RATE LIMIT",
    ] {
        assert_eq!(classify(403, body), limited, "{body}");
        assert_eq!(classify(404, body), Some(GitHubFailure::Refused(404)));
    }
    // The primary limit is not spent, so its reset does not matter.
    assert_eq!(classify(429, "{}"), limited);
    for body in [
        "",
        r#"{"message":"Resource not accessible by personal access token"}"#,
        r#"{"message":"Forbidden","documentation_url":"https://docs.github.com/rest/rate-limits"}"#,
    ] {
        assert_eq!(classify(403, body), Some(GitHubFailure::Refused(403)));
    }
}

#[test]
fn failures_are_cached_and_refusals_are_cached_longer() {
    assert_eq!(GitHubFailure::Failed.fresh_until(NOW), at(60));
    assert_eq!(GitHubFailure::Refused(404).fresh_until(NOW), at(600));
    let expected = Millis(7);
    assert_eq!(GitHubFailure::Limited(Millis(7)).fresh_until(NOW), expected);
}

#[test]
fn failures_that_the_operator_can_fix_are_described() {
    let describe = |failure: GitHubFailure| failure.describe().unwrap_or_default();
    assert!(describe(GitHubFailure::Refused(401)).contains("GITHUB_TOKEN is not valid"));
    let missing = describe(GitHubFailure::Refused(404));
    assert!(missing.contains("GitHub answered 404") && missing.contains("GITHUB_TOKEN"));
    let moved = describe(GitHubFailure::Refused(301));
    assert!(moved.contains("GitHub answered 301") && !moved.contains("GITHUB_TOKEN"));
    assert!(describe(GitHubFailure::Limited(NOW)).contains("limits requests"));
    assert_eq!(describe(GitHubFailure::Failed), "");
}

const TOKEN: &str = "github_pat_hunter2";

fn read(changes: &[(&str, Option<&str>)]) -> Option<PullRequestSettings> {
    configure(changes).pull_requests
}

#[test]
fn github_requests_are_on_with_a_token_or_if_switched_on() {
    let token = ("GITHUB_TOKEN", Some(TOKEN));
    let api_url = ("GITHUB_API_URL", Some("https://github.example"));
    let switch = |value| ("PULL_REQUEST_STATES", Some(value));
    for (changes, is_on) in [
        (vec![], false),
        (vec![("GITHUB_TOKEN", Some(" "))], false),
        (vec![api_url], false),
        (vec![token], true),
        (vec![switch("on")], true),
        (vec![token, switch("on")], true),
        (vec![token, switch("off")], false),
    ] {
        assert_eq!(read(&changes).is_some(), is_on, "{changes:?}");
    }
}

#[test]
fn the_token_is_sent_as_a_bearer_token_and_not_printed() {
    let settings = read(&[("GITHUB_TOKEN", Some(TOKEN))]).unwrap();
    let headers = settings.headers();
    let expected = Some("Bearer github_pat_hunter2");
    assert_eq!(headers.get("authorization"), expected);
    assert!(headers.get("user-agent").is_some(), "GitHub requires it");
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert_eq!(settings.base_url.as_str(), "https://api.github.com");

    let settings = read(&[("PULL_REQUEST_STATES", Some("on"))]).unwrap();
    assert_eq!(settings.headers().get("authorization"), None);
}
