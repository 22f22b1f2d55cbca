//! The state of a job's pull request on GitHub. This module finds the link to the pull request in a
//! job, and reads GitHub's responses about the pull request and its checks.

pub mod cache;
pub mod failure;
pub mod settings;

use std::fmt;

use quillgate::{Millis, PullRequestLink, RepositoryHost, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::Value;

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

    /// Returns the path and query of a commit's check runs in GitHub's API. `commit` is from a
    /// [`PullReply`].
    pub fn checks_target(&self, commit: &str) -> String {
        let repository = &self.0.repository;
        format!("/repos/{repository}/commits/{commit}/check-runs?per_page=100")
    }
}

/// Formats the usual short name, such as `acme/docs#12`.
impl fmt::Display for PullRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether a string is the id of a commit: a SHA-1 or SHA-256 in hexadecimal digits.
fn is_commit_id(text: &str) -> bool {
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex && matches!(text.len(), 40 | 64)
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

/// The result of a commit's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChecksState {
    /// All checks succeeded, were skipped or have a neutral result.
    Passing,
    /// At least one check finished with another known result, such as failed or cancelled.
    Failing,
    /// No check failed so far, and at least one has not finished.
    Pending,
}

/// The status of a pull request, in the form of the gateway's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestStatus {
    /// Whether the pull request is open, merged or closed.
    pub state: PullRequestState,
    /// Whether the pull request is a draft.
    pub is_draft: bool,
    /// The result of the checks of the pull request's last commit. `None` if the pull request is
    /// not open or has no checks, or if the result is unknown, for example because the token cannot
    /// read checks.
    pub checks: Option<ChecksState>,
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
        checks: None,
        merged_at: None,
    };

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

/// GitHub's response about a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullReply {
    /// The status of the pull request. The result of the checks is not known yet, so `checks` is
    /// `None`.
    pub status: PullRequestStatus,
    /// The id of the last commit of an open pull request, in hexadecimal digits. The gateway
    /// fetches the checks of this commit next.
    pub commit: Option<String>,
}

impl PullReply {
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
        let commit = json::text(body.get("head")?, "sha")?;
        let is_open = state == PullRequestState::Open;
        Some(Self {
            status: PullRequestStatus {
                state,
                is_draft: is_open && json::is_true(&body, "draft"),
                checks: None,
                merged_at: merged_at
                    .filter(|_| state == PullRequestState::Merged)
                    .and_then(|time| time.parse().ok()),
            },
            commit: (is_open && is_commit_id(commit)).then(|| commit.to_owned()),
        })
    }
}

/// Reads the result of a check run. Returns `None` if the run is malformed or its conclusion is
/// unknown.
fn read_check(run: &Value) -> Option<ChecksState> {
    if json::text(run, "status")? != "completed" {
        return Some(ChecksState::Pending);
    }
    match json::text(run, "conclusion")? {
        "success" | "neutral" | "skipped" => Some(ChecksState::Passing),
        "failure" | "timed_out" | "cancelled" | "action_required" | "startup_failure" | "stale" => {
            Some(ChecksState::Failing)
        }
        _ => None,
    }
}

/// Reads the result of a commit's checks from the first page of check runs.
///
/// A failing run takes precedence over a pending run, and a pending run over passing runs. Passing
/// requires that the page contains every run and that every conclusion is known. Returns `None` in
/// all other cases, for example if the commit has no check runs.
pub fn read_checks(text: &str) -> Option<ChecksState> {
    let body = json::parse(text.as_bytes())?;
    let total = body.get("total_count")?.as_u64()?;
    let runs = body.get("check_runs")?.as_array()?;
    let states: Vec<_> = runs.iter().map(read_check).collect();
    let has = |state| states.contains(&Some(state));
    if has(ChecksState::Failing) {
        return Some(ChecksState::Failing);
    }
    if has(ChecksState::Pending) {
        return Some(ChecksState::Pending);
    }
    let is_complete = states.len() as u64 >= total && !states.contains(&None);
    (is_complete && !states.is_empty()).then_some(ChecksState::Passing)
}
