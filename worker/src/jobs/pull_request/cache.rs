use quillgate::Millis;

use crate::bounded_cache::BoundedCache;
use crate::jobs::pull_request::failure::GitHubFailure;
use crate::jobs::pull_request::{PullRequest, PullRequestStatus};

const MAX_CACHED: usize = 1_000;
/// Of the states and their names, in bytes.
const MAX_BYTES: usize = 256 * 1024;
#[derive(Debug)]
pub struct PullRequestCache {
    known: BoundedCache<PullRequestStatus>,
    /// GitHub's rate limit was reached.
    paused_until: Millis,
}

impl Default for PullRequestCache {
    fn default() -> Self {
        Self {
            known: BoundedCache::new(MAX_CACHED, MAX_BYTES),
            paused_until: Millis(0),
        }
    }
}

impl PullRequestCache {
    /// Returns [`PullRequestStatus::UNKNOWN`] while GitHub's rate limit prevents requests, and
    /// `None` if the status must be fetched.
    pub fn find(&self, request: &PullRequest, now: Millis) -> Option<PullRequestStatus> {
        let known = self.known.get(&request.to_string(), now).copied();
        let is_paused = now < self.paused_until;
        known.or_else(|| is_paused.then_some(PullRequestStatus::UNKNOWN))
    }

    pub fn conclude(
        &mut self,
        request: &PullRequest,
        result: Result<PullRequestStatus, GitHubFailure>,
        now: Millis,
    ) {
        let (status, until) = match result {
            Ok(status) => (status, now.plus(status.fresh_for())),
            Err(failure) => {
                if let GitHubFailure::Limited(until) = failure {
                    self.paused_until = self.paused_until.max(until);
                }
                (PullRequestStatus::UNKNOWN, failure.fresh_until(now))
            }
        };
        let (name, bytes) = (request.to_string(), size_of::<PullRequestStatus>());
        self.known.insert(&name, status, bytes, until);
    }
}
