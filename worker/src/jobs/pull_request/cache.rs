//! The cache of the states of pull requests. Concurrent requests for the same state share a fetch,
//! and a rate limit of GitHub pauses all fetches.

use std::collections::BTreeMap;

use quillgate::Millis;

use crate::bounded_cache::BoundedCache;
use crate::jobs::pull_request::failure::GitHubFailure;
use crate::jobs::pull_request::{PullRequest, PullRequestStatus};

/// The maximum number of cached states.
const MAX_CACHED: usize = 1_000;
/// The maximum total size of the cached states and their names, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// The time after which a fetch counts as abandoned. The runtime can cancel a fetch, which then
/// never reports a result.
pub const MAX_FETCH_TIME: Millis = Millis::from_seconds(20);

/// The result of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// The cached status. [`PullRequestStatus::UNKNOWN`] if GitHub's rate limit prevents a request.
    Found(PullRequestStatus),
    /// The caller must fetch the status and then call [`PullRequestCache::conclude`].
    Fetch,
    /// Another request is fetching the status.
    Wait,
}

/// The cached states, and the fetches in progress.
#[derive(Debug)]
pub struct PullRequestCache {
    known: BoundedCache<PullRequestStatus>,
    /// The start of each fetch in progress, by the name of the pull request.
    fetches: BTreeMap<String, Millis>,
    /// Until this time, no request is sent, because GitHub's rate limit was reached.
    paused_until: Millis,
}

impl Default for PullRequestCache {
    fn default() -> Self {
        Self {
            known: BoundedCache::new(MAX_CACHED, MAX_BYTES),
            fetches: BTreeMap::new(),
            paused_until: Millis(0),
        }
    }
}

impl PullRequestCache {
    /// Looks up a status. After [`Lookup::Fetch`], further lookups return [`Lookup::Wait`] until
    /// the fetch ends or counts as abandoned.
    pub fn look_up(&mut self, request: &PullRequest, now: Millis) -> Lookup {
        let name = request.to_string();
        if let Some(known) = self.known.get(&name, now) {
            return Lookup::Found(*known);
        }
        if now < self.paused_until {
            return Lookup::Found(PullRequestStatus::UNKNOWN);
        }
        self.fetches
            .retain(|_, began| now.since(*began) < MAX_FETCH_TIME);
        if self.fetches.contains_key(&name) {
            return Lookup::Wait;
        }
        self.fetches.insert(name, now);
        Lookup::Fetch
    }

    /// Returns the cached status, or [`PullRequestStatus::UNKNOWN`] if no status is cached.
    pub fn find(&self, request: &PullRequest, now: Millis) -> PullRequestStatus {
        let known = self.known.get(&request.to_string(), now);
        known.copied().unwrap_or(PullRequestStatus::UNKNOWN)
    }

    /// Ends a fetch and caches its result. Pauses all requests if GitHub's rate limit was reached.
    pub fn conclude(
        &mut self,
        request: &PullRequest,
        result: Result<PullRequestStatus, GitHubFailure>,
        now: Millis,
    ) {
        let name = request.to_string();
        self.fetches.remove(&name);
        let (status, until) = match result {
            Ok(status) => (status, now.plus(status.fresh_for())),
            Err(failure) => {
                if let GitHubFailure::Limited(until) = failure {
                    self.paused_until = self.paused_until.max(until);
                }
                (PullRequestStatus::UNKNOWN, failure.fresh_until(now))
            }
        };
        self.known
            .insert(&name, status, size_of::<PullRequestStatus>(), until);
    }
}
