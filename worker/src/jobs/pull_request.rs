//! The state of a job's pull request on GitHub. This module finds the link to the pull request in a
//! job, and reads GitHub's responses.

pub mod cache;
pub mod failure;
pub mod pull_request_settings;

use std::fmt;

use quillgate::{Millis, PullRequestLink, RepositoryHost, Timestamp};
use serde::{Serialize, Serializer};

use crate::json;

/// A pull request on github.com.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest(PullRequestLink);

impl PullRequest {
    /// Parses a link to a pull request. Returns `None` for links to other hosts or pages.
    ///
    /// ```
    /// use quillgate_worker::jobs::pull_request::PullRequest;
    ///
    /// let request = PullRequest::parse("https://github.com/acme/docs/pull/12").unwrap();
    /// assert_eq!(request.target(), "/repos/acme/docs/pulls/12");
    /// assert_eq!(PullRequest::parse("https://git.example/acme/docs/pull/12"), None);
    /// ```
    pub fn parse(link: &str) -> Option<Self> {
        let link = PullRequestLink::parse(link)?;
        let is_on_github = link.host == "github.com" && link.kind == RepositoryHost::GitHub;
        is_on_github.then_some(Self(link))
    }

    /// Finds the pull request of a job. `job` is Mintlify's JSON. Returns `None` if the job has no
    /// link to a pull request on github.com.
    pub fn of_job(job: &str) -> Option<Self> {
        let job = json::parse(job.as_bytes())?;
        Self::parse(json::text(&job, "prLink")?)
    }

    /// Returns the path of the pull request in GitHub's API.
    pub fn target(&self) -> String {
        format!("/repos/{}/pulls/{}", self.0.repository, self.0.number)
    }
}

/// Formats the usual short name, such as `acme/docs#12`.
impl fmt::Display for PullRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PullRequestState {
    /// The pull request is neither merged nor closed.
    Open,
    /// The pull request was merged.
    Merged,
    /// The pull request was closed without being merged.
    Closed,
    /// The state is unknown, because the gateway could not read it or is configured not to request
    /// it.
    Unknown,
}

/// The status of a pull request, in the form of the gateway's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestStatus {
    /// Whether the pull request is open, merged or closed.
    pub state: PullRequestState,
    /// Whether the pull request is a draft.
    pub is_draft: bool,
    /// When the pull request was merged. `None` if it was not merged, or at an unknown time.
    #[serde(serialize_with = "write_timestamp")]
    pub merged_at: Option<Timestamp>,
}

/// Writes a time in RFC 3339.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn write_timestamp<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => to.collect_str(time),
        None => to.serialize_none(),
    }
}

impl PullRequestStatus {
    /// The status of a pull request whose state is unknown.
    pub const UNKNOWN: Self = Self {
        state: PullRequestState::Unknown,
        is_draft: false,
        merged_at: None,
    };

    /// Reads the body of GitHub's response. Returns `None` if the body does not describe a pull
    /// request.
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
                .and_then(|time| time.parse().ok()),
        })
    }

    /// Returns the freshness lifetime of the status. Even the status of a closed pull request
    /// expires, because the pull request can be reopened.
    pub const fn fresh_for(&self) -> Millis {
        Millis::from_seconds(match self.state {
            PullRequestState::Open | PullRequestState::Unknown => 60,
            PullRequestState::Closed => 600,
            PullRequestState::Merged => 3_600,
        })
    }
}
