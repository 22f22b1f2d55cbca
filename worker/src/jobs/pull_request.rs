pub mod pull_request_settings;

use quillgate::{Millis, PullRequestLink, RepositoryHost, Timestamp};
use serde::Serialize;

use crate::bounded_cache::BoundedCache;
use crate::json;
use crate::upstream::head::UpstreamHead;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest(PullRequestLink);

impl PullRequest {
    /// `None` for links to other hosts or pages.
    pub fn parse(link: &str) -> Option<Self> {
        let link = PullRequestLink::parse(link)?;
        let is_on_github = link.host == "github.com" && link.kind == RepositoryHost::GitHub;
        is_on_github.then_some(Self(link))
    }

    /// `job` is Mintlify's JSON.
    pub fn of_job(job: &str) -> Option<Self> {
        let job = json::parse(job.as_bytes())?;
        Self::parse(json::text(&job, "prLink")?)
    }

    /// The path in GitHub's API, which identifies the pull request.
    pub fn target(&self) -> String {
        format!("/repos/{}/pulls/{}", self.0.repository, self.0.number)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PullRequestState {
    Open,
    Merged,
    /// Without being merged.
    Closed,
    /// Not readable, or not requested.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestStatus {
    pub state: PullRequestState,
    pub is_draft: bool,
    /// An instant in UTC.
    pub merged_at: Option<String>,
}

impl PullRequestStatus {
    pub const UNKNOWN: Self = Self {
        state: PullRequestState::Unknown,
        is_draft: false,
        merged_at: None,
    };

    pub fn read(text: &str) -> Option<Self> {
        let body = json::parse(text.as_bytes())?;
        let merged_at = json::text(&body, "merged_at");
        let state = match (json::text(&body, "state")?, merged_at) {
            ("open", _) => PullRequestState::Open,
            ("closed", Some(_)) => PullRequestState::Merged,
            ("closed", None) => PullRequestState::Closed,
            _ => return None,
        };
        Some(Self {
            state,
            is_draft: state == PullRequestState::Open && json::is_true(&body, "draft"),
            merged_at: merged_at
                .filter(|_| state == PullRequestState::Merged)
                .and_then(|time| time.parse::<Timestamp>().ok())
                .map(|time| time.to_string()),
        })
    }

    /// Even the status of a closed pull request expires, because it can be reopened.
    pub const fn fresh_for(&self) -> Millis {
        Millis::from_seconds(match self.state {
            PullRequestState::Open | PullRequestState::Unknown => 60,
            PullRequestState::Closed => 600,
            PullRequestState::Merged => 3_600,
        })
    }
}

/// GitHub's documentation specifies one minute.
const MIN_PAUSE: Millis = Millis::from_seconds(60);
/// GitHub's primary rate limits are per hour.
const MAX_PAUSE: Millis = Millis::from_seconds(3_600);
/// A refusal expires, because the token can gain access later.
const REFUSED_FOR: Millis = Millis::from_seconds(600);
const FAILED_FOR: Millis = Millis::from_seconds(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitHubFailure {
    /// Until this time.
    Limited(Millis),
    /// A status from 300 to 499: the token lacks access, or the pull request does not exist or was
    /// renamed.
    Refused(u16),
    Failed,
}

impl GitHubFailure {
    /// Returns `None` for a 200. GitHub responds 403 or 429 when a rate limit is reached. For a
    /// secondary limit, only the body of a 403 may say so.
    pub fn of_response(head: &UpstreamHead, body: &str, now: Millis) -> Option<Self> {
        let status = head.status;
        let number = |name| head.headers.get(name)?.parse::<u64>().ok();
        let retry_after = number("retry-after");
        let is_spent = number("x-ratelimit-remaining") == Some(0);
        let is_limited = || {
            let body = body.to_ascii_lowercase();
            let is_named = ["rate limit", "abuse detection"].map(|name| body.contains(name));
            is_spent || retry_after.is_some() || is_named.contains(&true)
        };
        match status {
            200 => None,
            403 | 429 if status == 429 || is_limited() => {
                let after = |seconds: u64| now.plus(Millis(seconds.saturating_mul(1_000)));
                let reset = number("x-ratelimit-reset").filter(|_| is_spent);
                let reset = || Some(Millis(reset?.saturating_mul(1_000)));
                let until = retry_after.map(after).or_else(reset).unwrap_or(now);
                Some(Self::Limited(
                    until.clamp(now.plus(MIN_PAUSE), now.plus(MAX_PAUSE)),
                ))
            }
            300..=499 => Some(Self::Refused(status)),
            _ => Some(Self::Failed),
        }
    }

    pub fn fresh_until(self, now: Millis) -> Millis {
        match self {
            Self::Limited(until) => until,
            Self::Refused(_) => now.plus(REFUSED_FOR),
            Self::Failed => now.plus(FAILED_FOR),
        }
    }

    /// `None` if the operator cannot fix the failure.
    pub fn describe(self) -> Option<String> {
        match self {
            Self::Refused(401) => Some("GitHub answered 401: GITHUB_TOKEN is not valid".to_owned()),
            Self::Refused(status @ 300..=399) => Some(format!(
                "GitHub answered {status} for the pull request of a job: its repository has moved"
            )),
            Self::Refused(status) => Some(format!(
                "GitHub answered {status} for the pull request of a job: GITHUB_TOKEN may lack access"
            )),
            Self::Limited(_) => {
                Some("GitHub limits requests for the states of pull requests".to_owned())
            }
            Self::Failed => None,
        }
    }
}

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
        let known = self.known.get(&request.target(), now).cloned();
        let is_paused = now < self.paused_until;
        known.or_else(|| is_paused.then_some(PullRequestStatus::UNKNOWN))
    }

    pub fn conclude(
        &mut self,
        request: &PullRequest,
        result: Result<PullRequestStatus, GitHubFailure>,
        now: Millis,
    ) {
        let until = match &result {
            Ok(status) => now.plus(status.fresh_for()),
            Err(failure) => {
                if let GitHubFailure::Limited(until) = failure {
                    self.paused_until = self.paused_until.max(*until);
                }
                failure.fresh_until(now)
            }
        };
        let status = result.unwrap_or(PullRequestStatus::UNKNOWN);
        let bytes = size_of::<PullRequestStatus>();
        self.known.insert(&request.target(), status, bytes, until);
    }
}
