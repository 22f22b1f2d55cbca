//! Deployments and previews of a project's documentation site (docs/mintlify/deployments.md, 4.12
//! to 4.14). Only gateways list deployments and stream their changes.

use crate::count::Count;
use crate::date::Instant;
use crate::declaration::{Pagination, ParameterKind, RateLimitPolicy};
use crate::list::Limit;
use crate::parameters::{Cursor, text_parameter};

text_parameter! {
    /// The identifier of a deployment or a preview: the `statusId` of the response that started it.
    pub struct StatusId, Path "statusId", ParameterKind::Id,
    "The identifier of the deployment: the `statusId` of the response that started it."
}

text_parameter! {
    /// The name of a Git branch: at least one character.
    pub struct Branch, Body "branch", ParameterKind::Text,
    "The name of the Git branch."
}

/// The maximum number of deployments per page: 1 to 100, by default 25.
pub type DeploymentPageSize = Limit<100, 25>;

status! {
    /// The state of a deployment. `success` and `failure` are final. Other values are passed through
    /// unchanged and are not final. After `failure`, the content can still be live.
    pub enum DeploymentStatus {
        /// Mintlify has not started the deployment.
        Queued => "queued",
        /// Mintlify is building or publishing the site.
        InProgress => "in_progress",
        /// The deployment is live.
        Success => "success",
        /// The deployment failed, or a step after its publication did: see
        /// [`Deployment::is_live`].
        Failure => "failure",
    }
    final: Success | Failure
}

record! {
    /// The author of a deployment.
    pub struct DeploymentAuthor {
        /// The author's name.
        pub name as "name": Option<String>,
        /// The URL of the author's picture.
        pub avatar_url as "avatarUrl": Option<String>,
        /// The author's id on GitHub.
        pub github_user_id as "githubUserId": Option<Count>,
    }
}

record! {
    /// The files that a commit changed.
    pub struct FilesChanged {
        /// The paths of new files.
        pub added as "added": Option<Vec<String>>,
        /// The paths of modified files.
        pub modified as "modified": Option<Vec<String>>,
        /// The paths of removed files.
        pub removed as "removed": Option<Vec<String>>,
    }
}

record! {
    /// The commit that a deployment published.
    pub struct DeploymentCommit {
        /// The commit's SHA.
        pub sha as "sha": Option<String>,
        /// The commit's Git reference.
        pub reference as "ref": Option<String>,
        /// The commit's message.
        pub message as "message": Option<String>,
        /// The files that the commit changed.
        pub files_changed as "filesChanged": Option<FilesChanged>,
    }
}

record! {
    /// A deployment or a preview. Mintlify does not guarantee any property. A missing one is `null`.
    pub struct Deployment {
        /// The deployment's identifier: the `statusId` of the response that started it.
        pub id as "_id": Option<String>,
        /// The project's id.
        pub project_id as "projectId": Option<String>,
        /// When the deployment was created, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
        /// When the deployment ended, as an ISO 8601 date-time; `null` until then.
        pub ended_at as "endedAt": Option<Instant>,
        /// The deployment's state.
        pub status as "status": Option<DeploymentStatus>,
        /// A sentence about the state.
        pub summary as "summary": Option<String>,
        /// The steps so far, one sentence each.
        pub logs as "logs": Option<Vec<String>>,
        /// The subdomain of the site.
        pub subdomain as "subdomain": Option<String>,
        /// The URL of a picture of the site.
        pub screenshot as "screenshot": Option<String>,
        /// The URL of a picture of the site in its light colours.
        pub screenshot_light as "screenshotLight": Option<String>,
        /// The URL of a picture of the site in its dark colours.
        pub screenshot_dark as "screenshotDark": Option<String>,
        /// The author. `null` without one.
        pub author as "author": Option<DeploymentAuthor>,
        /// The published commit.
        pub commit as "commit": Option<DeploymentCommit>,
        /// The origin of the deployment, such as `api`, `github` or `dashboard`.
        pub source as "source": Option<String>,
    }
}

/// The sentence in `logs` after the content of a deployment was published
/// (docs/mintlify/deployments.md, 4.14).
pub const LOG_PUBLISHED: &str = "Successfully updated deployment";
/// The start of the sentence about a domain whose cache could not be cleared
/// (docs/mintlify/deployments.md, 4.14).
pub const LOG_NOT_REVALIDATED: &str = "Failed to revalidate ";
/// The start of the sentence about a step that failed.
pub const LOG_FAILED: &str = "Failed";

impl Deployment {
    /// Returns whether the content is live: the deployment succeeded, or it failed only because a
    /// domain could not be revalidated after the publication (docs/mintlify/deployments.md, 4.14).
    ///
    /// ```
    /// use quillgate::Deployment;
    /// use serde_json::{from_value, json};
    ///
    /// let deployment: Deployment = from_value(json!({
    ///     "status": "failure",
    ///     "summary": "Failed to revalidate domain: docs.acme.example",
    ///     "logs": ["Successfully updated deployment", "Failed to revalidate domain: docs.acme.example"],
    /// }))?;
    /// assert!(deployment.is_live());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn is_live(&self) -> bool {
        let lines = self.logs.iter().flatten().map(String::as_str);
        is_live(self.status.as_ref(), self.summary.as_deref(), lines)
    }
}

/// As [`Deployment::is_live`], for the properties of a deployment.
pub fn is_live<'a>(
    status: Option<&DeploymentStatus>,
    summary: Option<&'a str>,
    logs: impl Iterator<Item = &'a str>,
) -> bool {
    match status {
        Some(DeploymentStatus::Success) => true,
        Some(DeploymentStatus::Failure) => {
            // Sentences about other failures have no common start, so the summary decides.
            let summary = summary.map(str::trim).filter(|text| !text.is_empty());
            let mut is_other_failure =
                summary.is_some_and(|text| !text.starts_with(LOG_NOT_REVALIDATED));
            let (mut is_published, mut is_not_revalidated) = (false, false);
            for line in logs.chain(summary) {
                let line = line.trim();
                is_published |= line.starts_with(LOG_PUBLISHED);
                if line.starts_with(LOG_NOT_REVALIDATED) {
                    is_not_revalidated = true;
                } else {
                    is_other_failure |= line.starts_with(LOG_FAILED);
                }
            }
            is_published && is_not_revalidated && !is_other_failure
        }
        _ => false,
    }
}

record! {
    /// A deployment that was just started.
    pub struct StartedDeployment {
        /// The deployment's identifier.
        pub status_id as "statusId": String,
    }
}

record! {
    /// A preview that was just started.
    pub struct StartedPreview {
        /// The identifier of the preview's deployment.
        pub status_id as "statusId": String,
        /// The URL of the preview. It can respond 404 for minutes although the deployment has
        /// succeeded (docs/mintlify/deployments.md, 4.13).
        pub preview_url as "previewUrl": Option<String>,
    }
}

operation! {
    /// Publishes the documentation from the project's deployment branch. Returns immediately; the
    /// deployment takes a minute or more.
    pub struct CreateDeployment: Default -> StartedDeployment {}
    name: "deployments.create",
    route: Post "/v1/project/update/{projectId}",
    scope: CreateDeployments,
    policy: Some(RateLimitPolicy::CreateDeployment),
    repeat: Keyed,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/update/trigger"),
}

operation! {
    /// Creates a preview of a branch, or deploys the existing preview of the branch again. Returns
    /// immediately; the deployment takes a minute or more.
    pub struct CreatePreview -> StartedPreview {
        /// The branch.
        pub branch: Branch,
    }
    name: "previews.create",
    route: Post "/v1/project/preview/{projectId}",
    scope: CreateDeployments,
    policy: Some(RateLimitPolicy::CreatePreview),
    repeat: Keyed,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/preview/trigger"),
}

impl CreatePreview {
    /// Creates the operation that creates a preview of this branch.
    #[must_use]
    pub const fn new(branch: Branch) -> Self {
        Self { branch }
    }
}

operation! {
    /// Reads a deployment or a preview. A gateway returns only those of the caller's projects.
    pub struct GetDeployment -> Deployment {
        /// The deployment's id.
        pub id: StatusId,
    }
    name: "deployments.get",
    route: Get "/v1/project/update-status/{statusId}",
    scope: ReadDeployments,
    policy: Some(RateLimitPolicy::ReadDeployments),
    repeat: Safe,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/update/status"),
}

impl GetDeployment {
    /// Creates the operation that reads this deployment.
    #[must_use]
    pub const fn new(id: StatusId) -> Self {
        Self { id }
    }
}

record! {
    /// A deployment or a preview in a gateway's list. Its state is from the gateway's last poll.
    pub struct ListedDeployment {
        /// The deployment's identifier.
        pub status_id as "statusId": String,
        /// The state. `null` while it is unknown.
        pub status as "status": Option<DeploymentStatus>,
        /// Whether the content is live, also after a `failure` of a later step. `null` until the
        /// deployment has ended.
        pub is_live as "isLive": Option<bool>,
        /// A sentence about the state.
        pub summary as "summary": Option<String>,
        /// The branch of a preview; `null` for a deployment of the site.
        pub branch as "branch": Option<String>,
        /// The URL of a preview; `null` for a deployment of the site.
        pub preview_url as "previewUrl": Option<String>,
        /// The subject of the access token that started the deployment.
        pub created_by as "createdBy": Option<String>,
        /// When the deployment was started, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
        /// When the gateway last polled the deployment, as an ISO 8601 date-time.
        pub checked_at as "checkedAt": Option<Instant>,
    }
}

record! {
    /// One page of the list of a project's deployments.
    pub struct DeploymentPage {
        /// The deployments and previews of this page, newest first: at most `limit`.
        pub deployments as "deployments": Vec<ListedDeployment>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
        /// The number of the latest change of the list when the page was read. A stream of all
        /// deployments that starts after this number misses no change.
        pub revision as "revision": Option<Count>,
    }
}

operation! {
    /// Lists the deployments and previews started through the gateway, newest first.
    pub struct ListDeployments: Default -> DeploymentPage {
        /// Deployments per page. Default: 25.
        pub limit: Option<DeploymentPageSize>,
        /// The cursor of the page to return. Default: the first page.
        pub cursor: Option<Cursor>,
    }
    name: "deployments.list",
    route: Get "/v1/project/{projectId}/deployments",
    scope: ReadDeployments,
    policy: Some(RateLimitPolicy::ReadDeployments),
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "deployments", time: None, scans: false },
    link: None,
}

operation! {
    /// Deletes the gateway's record of a deployment. The deployment itself continues.
    pub struct DeleteDeploymentRecord -> () {
        /// The deployment's id.
        pub id: StatusId,
    }
    name: "deployments.deleteRecord",
    route: Delete "/v1/project/{projectId}/deployments/{statusId}",
    scope: Operate,
    policy: None,
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}

operation! {
    /// Streams a deployment's changes as Server-Sent Events. The stream ends when the deployment
    /// ends or the gateway stops polling it, or after at most an hour.
    pub struct StreamDeploymentEvents -> Deployment {
        /// The deployment's id.
        pub id: StatusId,
    }
    name: "deployments.events",
    route: Get "/v1/project/{projectId}/deployments/{statusId}/events",
    scope: ReadDeployments,
    policy: Some(RateLimitPolicy::ReadDeployments),
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}

operation! {
    /// Streams the changes of all deployments started through the gateway as Server-Sent Events:
    /// new deployments, states and deleted records.
    pub struct StreamProjectDeploymentEvents: Default -> ListedDeployment {}
    name: "deployments.allEvents",
    route: Get "/v1/project/{projectId}/deployments/events",
    scope: ReadDeployments,
    policy: Some(RateLimitPolicy::ReadDeployments),
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}
