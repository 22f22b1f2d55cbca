pub mod cache;
pub mod failure;
pub mod pull_request_settings;

use std::fmt;

use quillgate::{Millis, PullRequestLink, RepositoryHost, Timestamp};
use serde::{Serialize, Serializer};

use crate::json;

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

    pub fn target(&self) -> String {
        format!("/repos/{}/pulls/{}", self.0.repository, self.0.number)
    }
}

/// Such as `acme/docs#12`.
impl fmt::Display for PullRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestStatus {
    pub state: PullRequestState,
    pub is_draft: bool,
    #[serde(serialize_with = "write_timestamp")]
    pub merged_at: Option<Timestamp>,
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn write_timestamp<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => to.collect_str(time),
        None => to.serialize_none(),
    }
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
                .and_then(|time| time.parse().ok()),
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
