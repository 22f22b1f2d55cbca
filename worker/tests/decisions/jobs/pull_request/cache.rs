//! The cache of pull request states.

use quillgate_worker::jobs::pull_request::{
    GitHubFailure, PullRequest, PullRequestCache, PullRequestState, PullRequestStatus,
};

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
