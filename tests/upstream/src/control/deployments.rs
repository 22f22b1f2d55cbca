//! Deployments, previews and runs of automations.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{Earlier, Shared};
use crate::api_error::ApiError;
use crate::automation::ListedRun;
use crate::clock::Timestamp;
use crate::deployment::{Course, Deployment, DeploymentState, Deployments, Forced};
use crate::platform::Platform;
use crate::request_log::Reads;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedDeployment {
    branch: Option<String>,
    preview_url: Option<String>,
    reads: Reads,
    #[serde(flatten)]
    state: DeploymentState,
}

impl ListedDeployment {
    fn new(deployment: &Deployment, deployments: &Deployments, platform: &Platform) -> Self {
        let keys = platform.keys.lock();
        let branch = deployment.branch.as_deref();
        Self {
            branch: branch.map(|branch| keys.scrub(branch)),
            preview_url: deployment.preview_url(),
            reads: platform.request_log.reads(&deployment.id),
            state: deployments.state(deployment, platform.clock.now()),
        }
    }
}

pub(super) async fn list(State(platform): Shared) -> Json<Vec<ListedDeployment>> {
    let deployments = platform.deployments.lock();
    let all = deployments.iter();
    Json(
        all.map(|deployment| ListedDeployment::new(deployment, &deployments, &platform))
            .collect(),
    )
}

pub(super) async fn get(
    State(platform): Shared,
    Path(id): Path<String>,
) -> Result<Json<ListedDeployment>, ApiError> {
    let deployments = platform.deployments.lock();
    let deployment = deployments.find(&id).ok_or(ApiError::StatusNotFound)?;
    let listed = ListedDeployment::new(deployment, &deployments, &platform);
    Ok(Json(listed))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Next {
    course: Course,
}

/// Sets the course of one more of the next deployments and previews.
pub(super) async fn queue_course(
    State(platform): Shared,
    Json(Next { course }): Json<Next>,
) -> StatusCode {
    platform.deployments.lock().queue_course(course);
    StatusCode::NO_CONTENT
}

pub(super) async fn force(
    State(platform): Shared,
    Path(id): Path<String>,
    Json(fields): Json<Forced>,
) -> Result<StatusCode, ApiError> {
    let mut deployments = platform.deployments.lock();
    let deployment = deployments.find_mut(&id).ok_or(ApiError::StatusNotFound)?;
    deployment.force(fields);
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn add(
    State(platform): Shared,
    Path(id): Path<String>,
    Json(earlier): Json<Earlier>,
) -> StatusCode {
    let created_at = Timestamp(earlier.created_at);
    let mut deployments = platform.deployments.lock();
    deployments.add(id, earlier.project_id, created_at);
    StatusCode::NO_CONTENT
}

pub(super) async fn runs(State(platform): Shared) -> Json<Vec<ListedRun>> {
    Json(platform.automation_runs.lock().all().to_vec())
}
