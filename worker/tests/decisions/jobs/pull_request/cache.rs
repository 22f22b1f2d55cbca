//! The cache of pull request states.

use quillgate::Millis;
use quillgate_worker::jobs::pull_request::cache::{Lookup, MAX_FETCH_TIME, PullRequestCache};
use quillgate_worker::jobs::pull_request::failure::GitHubFailure;
use quillgate_worker::jobs::pull_request::{PullRequest, PullRequestState, PullRequestStatus};

use crate::fixtures::{NOW, at};

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
    assert_eq!(cache.look_up(&request(1), NOW), Lookup::Fetch);
    cache.conclude(&request(1), result, NOW);
    cache
}

#[test]
fn a_status_is_cached_while_it_is_fresh() {
    for (status, seconds) in [(OPEN, 60), (MERGED, 3_600)] {
        let mut cache = cache_with(Ok(status));
        let last = at(seconds - 1);
        assert_eq!(cache.look_up(&request(1), last), Lookup::Found(status));
        assert_eq!(cache.find(&request(1), last), status);
        assert_eq!(cache.look_up(&request(2), last), Lookup::Fetch);
        assert_eq!(cache.find(&request(1), at(seconds)), UNKNOWN);
        assert_eq!(cache.look_up(&request(1), at(seconds)), Lookup::Fetch);
    }
}

#[test]
fn concurrent_requests_share_a_fetch() {
    let mut cache = PullRequestCache::default();
    assert_eq!(cache.look_up(&request(1), NOW), Lookup::Fetch);
    assert_eq!(cache.look_up(&request(1), NOW), Lookup::Wait);
    assert_eq!(cache.look_up(&request(2), NOW), Lookup::Fetch);
    cache.conclude(&request(1), Ok(OPEN), NOW);
    assert_eq!(cache.look_up(&request(1), NOW), Lookup::Found(OPEN));
    assert_eq!(cache.look_up(&request(2), NOW), Lookup::Wait);
}

#[test]
fn an_abandoned_fetch_is_repeated() {
    let mut cache = PullRequestCache::default();
    assert_eq!(cache.look_up(&request(1), NOW), Lookup::Fetch);
    let almost = NOW.plus(Millis(MAX_FETCH_TIME.0 - 1));
    assert_eq!(cache.look_up(&request(1), almost), Lookup::Wait);
    let later = NOW.plus(MAX_FETCH_TIME);
    assert_eq!(cache.look_up(&request(1), later), Lookup::Fetch);
}

#[test]
fn a_failure_is_cached_as_unknown_for_its_pull_request_only() {
    for (failure, seconds) in [
        (GitHubFailure::Failed, 60),
        (GitHubFailure::Refused(404), 600),
    ] {
        let mut cache = cache_with(Err(failure));
        let last = at(seconds - 1);
        assert_eq!(cache.look_up(&request(1), last), Lookup::Found(UNKNOWN));
        assert_eq!(cache.look_up(&request(2), last), Lookup::Fetch);
        assert_eq!(cache.look_up(&request(1), at(seconds)), Lookup::Fetch);
    }
}

#[test]
fn a_limit_pauses_requests_for_all_pull_requests() {
    let mut cache = cache_with(Err(GitHubFailure::Limited(at(120))));
    for number in [1, 2] {
        let found = cache.look_up(&request(number), at(119));
        assert_eq!(found, Lookup::Found(UNKNOWN));
        assert_eq!(cache.look_up(&request(number), at(120)), Lookup::Fetch);
    }
}
