//! Deployments, previews and runs of automations.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::{InvalidBody, Shared, read};
use crate::api_error::ApiError;
use crate::automation::ListedRun;
use crate::clock::Timestamp;
use crate::deployment::{Course, Deployment, DeploymentState, Deployments, Forced};
use crate::origin::Origin;
use crate::platform::Platform;
use crate::request_log::Reads;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedDeployment {
    branch: Option<String>,
    preview_url: Option<String>,
    origin: Origin,
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
            origin: deployment.origin.clone(),
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

/// Sets the course of one more of the next deployments and previews.
pub(super) async fn queue_course(
    State(platform): Shared,
    body: Bytes,
) -> Result<StatusCode, InvalidBody> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Next {
        course: Course,
    }

    let Next { course } = read(&body)?;
    platform.deployments.lock().queue_course(course);
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn force(
    State(platform): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, InvalidBody> {
    let fields: Forced = read(&body)?;
    let mut deployments = platform.deployments.lock();
    let Some(deployment) = deployments.find_mut(&id) else {
        return Ok(ApiError::StatusNotFound.into_response());
    };
    deployment.force(fields);
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn add(
    State(platform): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, InvalidBody> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Earlier {
        project_id: String,
        created_at: u64,
    }

    let earlier: Earlier = read(&body)?;
    let created_at = Timestamp(earlier.created_at);
    let mut deployments = platform.deployments.lock();
    deployments.add(id, earlier.project_id, created_at);
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn runs(State(platform): Shared) -> Json<Vec<ListedRun>> {
    Json(platform.automation_runs.lock().all().to_vec())
}
