//! Deployments of the site and previews of branches.

mod course;

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::auth::{Authorized, PermittedKey};
use crate::clock::Timestamp;
use crate::field::Field;
use crate::json_body;
use crate::limits::ORGANISATION;
use crate::options::Options;
use crate::platform::Platform;
use crate::random::SplitMix64;

pub(crate) use course::Course;
use course::{Progress, Site};

const SUBDOMAIN: &str = "acme";
const HOST: &str = "mintlify.site";
const REF: &str = "main";
/// The maximum length of a label of a host name (RFC 1035, section 2.3.4).
const MAX_LABEL: usize = 63;

pub(crate) async fn create(
    State(platform): State<Arc<Platform>>,
    Authorized { project }: Authorized,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let now = platform.clock.now();
    platform.limits.lock().deployment.take(ORGANISATION, now)?;
    let mut deployments = platform.deployments.lock();
    let status_id = deployments.start(project, None, now);
    Ok((StatusCode::ACCEPTED, Json(json!({ "statusId": status_id }))))
}

pub(crate) async fn create_preview(
    State(platform): State<Arc<Platform>>,
    authorized: Result<Authorized, ApiError>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    #[derive(Deserialize)]
    struct Body {
        branch: String,
    }

    // Only the description of previews has a status for plans.
    let Authorized { project } = authorized.map_err(|error| match error {
        ApiError::PlanRequired if !platform.options.profile.is_live() => {
            ApiError::PreviewPlanRequired
        }
        error => error,
    })?;
    let invalid = "The branch field is required";
    let Body { branch } = json_body::read(&headers, &body, invalid)?;
    if branch.is_empty() {
        return Err(ApiError::InvalidRequest(invalid));
    }
    let now = platform.clock.now();
    platform.limits.lock().preview.take(ORGANISATION, now)?;
    let preview_url = preview_url(&branch);
    let mut deployments = platform.deployments.lock();
    let status_id = deployments.start(project, Some(branch), now);
    let started = json!({ "statusId": status_id, "previewUrl": preview_url });
    Ok((StatusCode::ACCEPTED, Json(started)))
}

/// The path has no project. The status of any project of the organization is readable.
pub(crate) async fn get(
    State(platform): State<Arc<Platform>>,
    _key: PermittedKey,
    Path(id): Path<String>,
) -> Result<Json<DeploymentState>, ApiError> {
    let now = platform.clock.now();
    let deployments = platform.deployments.lock();
    let deployment = deployments.find(&id).ok_or(ApiError::StatusNotFound)?;
    Ok(Json(deployments.state(deployment, now)))
}

/// The URL of the preview of a branch. Characters that a host name cannot have become hyphens.
fn preview_url(branch: &str) -> String {
    let label = format!("{SUBDOMAIN}-{branch}").to_lowercase();
    let label = label.chars().map(|char| match char {
        'a'..='z' | '0'..='9' => char,
        _ => '-',
    });
    let label: String = label.take(MAX_LABEL).collect();
    format!("https://{label}.{HOST}")
}

/// A deployment or preview as the API returns it. Properties without a value are missing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeploymentState {
    #[serde(rename = "_id")]
    id: String,
    project_id: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    logs: Vec<String>,
    subdomain: &'static str,
    #[serde(flatten)]
    screenshots: Option<Value>,
    author: Value,
    commit: Value,
    source: &'static str,
}

/// All deployments and previews, in the order in which they were started or added.
pub(crate) struct Deployments {
    duration_ms: u64,
    pages: u32,
    ids: SplitMix64,
    /// The courses of the next deployments and previews.
    next_courses: VecDeque<Course>,
    all: Vec<Deployment>,
}

impl Deployments {
    pub(crate) fn new(options: &Options, started: Timestamp) -> Self {
        // Ids differ between runs.
        let seed = options.seed.rotate_left(32) ^ started.0;
        Self {
            duration_ms: options.deployment_duration_ms,
            pages: options.pages,
            ids: SplitMix64::named(seed, "deployments"),
            next_courses: VecDeque::new(),
            all: Vec::new(),
        }
    }

    fn start(&mut self, project: String, branch: Option<String>, now: Timestamp) -> String {
        let id = self.ids.object_id();
        self.push(id.clone(), project, branch, now);
        id
    }

    /// Adds a deployment that was started earlier, replacing any with the same id.
    pub(crate) fn add(&mut self, id: String, project: String, created_at: Timestamp) {
        self.all.retain(|deployment| deployment.id != id);
        self.push(id, project, None, created_at);
    }

    fn push(&mut self, id: String, project: String, branch: Option<String>, created_at: Timestamp) {
        self.all.push(Deployment {
            id,
            course: self.next_courses.pop_front().unwrap_or(Course::Success),
            sha: self.ids.sha(),
            project,
            branch,
            created_at,
            forced: Forced::default(),
        });
    }

    /// Sets the course of one more of the next deployments and previews.
    pub(crate) fn queue_course(&mut self, course: Course) {
        self.next_courses.push_back(course);
    }

    pub(crate) fn state(&self, deployment: &Deployment, now: Timestamp) -> DeploymentState {
        deployment.at(now, self.duration_ms, self.pages)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Deployment> {
        self.all.iter().find(|deployment| deployment.id == id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Deployment> {
        self.all.iter_mut().find(|deployment| deployment.id == id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Deployment> {
        self.all.iter()
    }

    /// Removes all deployments and queued courses. Ids are not reused.
    pub(crate) fn clear(&mut self) {
        self.next_courses.clear();
        self.all.clear();
    }
}

/// A deployment or preview, whose state follows from its course and the time.
pub(crate) struct Deployment {
    pub(crate) id: String,
    pub(crate) branch: Option<String>,
    project: String,
    course: Course,
    sha: String,
    created_at: Timestamp,
    forced: Forced,
}

/// Properties that the control API has set.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Forced {
    status: Option<String>,
    logs: Option<Vec<String>>,
    summary: Field<String>,
}

impl Deployment {
    /// The URL of a preview.
    pub(crate) fn preview_url(&self) -> Option<String> {
        self.branch.as_deref().map(preview_url)
    }

    fn at(&self, now: Timestamp, duration_ms: u64, pages: u32) -> DeploymentState {
        let preview_url = self.preview_url();
        let url = preview_url.unwrap_or_else(|| format!("https://{SUBDOMAIN}.{HOST}"));
        let site = Site {
            url: &url,
            indexed_pages: self.branch.is_none().then_some(pages),
        };
        let elapsed_ms = now.since(self.created_at);
        let progress = self.course.progress(elapsed_ms, duration_ms, &site);
        let Progress {
            status,
            summary,
            logs,
            ended_after_ms,
        } = progress;
        let ended_at = ended_after_ms.map(|ms| self.created_at.plus(ms).to_string());
        let forced = &self.forced;
        DeploymentState {
            id: self.id.clone(),
            project_id: self.project.clone(),
            created_at: self.created_at.to_string(),
            ended_at,
            status: forced.status.as_deref().unwrap_or(status).to_owned(),
            summary: forced.summary.value_or(summary),
            logs: forced.logs.clone().unwrap_or(logs),
            subdomain: SUBDOMAIN,
            screenshots: (status == "success").then(|| {
                json!({
                    "screenshot": "https://files.acme.example/screenshot.png",
                    "screenshotLight": "https://files.acme.example/screenshot-light.png",
                    "screenshotDark": "https://files.acme.example/screenshot-dark.png",
                })
            }),
            author: json!({
                "name": "Ada Acme",
                "avatarUrl": "https://avatars.acme.example/ada.png",
                "githubUserId": 18_151_210,
            }),
            commit: json!({
                "sha": self.sha,
                "ref": self.branch.as_deref().unwrap_or(REF),
                "message": "Describe webhooks",
                "filesChanged": {
                    "added": ["guides/webhooks.mdx"],
                    "modified": ["docs.json", "quickstart.mdx"],
                    "removed": [],
                },
            }),
            source: "api",
        }
    }

    /// Sets the given properties.
    pub(crate) fn force(&mut self, fields: Forced) {
        let forced = &mut self.forced;
        forced.status = fields.status.or(forced.status.take());
        forced.logs = fields.logs.or(forced.logs.take());
        forced.summary.replace(fields.summary);
    }
}
