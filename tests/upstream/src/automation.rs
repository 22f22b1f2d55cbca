//! Automations and their runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::auth::Authorized;
use crate::clock::Timestamp;
use crate::limits::ORGANISATION;
use crate::options::Options;
use crate::platform::Platform;
use crate::random::SplitMix64;

pub(crate) async fn run(
    State(platform): State<Arc<Platform>>,
    Authorized { project }: Authorized,
    Path((_, automation)): Path<(String, String)>,
) -> Result<(StatusCode, Json<Run>), ApiError> {
    check(&automation)?;
    let now = platform.clock.now();
    platform.limits.lock().deployment.take(ORGANISATION, now)?;
    let mut runs = platform.automation_runs.lock();
    let run = runs.start(project, automation);
    Ok((StatusCode::ACCEPTED, Json(run)))
}

/// The id of an automation selects whether it can run.
fn check(automation: &str) -> Result<(), ApiError> {
    let errors = [
        ("unknown", ApiError::AutomationNotFound),
        (
            "unscheduled",
            ApiError::InvalidRequest("Automation is not configured with a custom schedule"),
        ),
        (
            "inactive",
            ApiError::InvalidRequest("Automation is not active"),
        ),
    ];
    let mut errors = errors.into_iter();
    match errors.find(|(prefix, _)| automation.starts_with(prefix)) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// A run as the API returns it.
#[derive(Clone, Serialize)]
pub(crate) struct Run {
    #[serde(rename = "schemaId")]
    automation: String,
    #[serde(rename = "instanceId")]
    instance: String,
    #[serde(rename = "jobId")]
    job: String,
}

/// A run as the control API returns it.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedRun {
    project_id: String,
    #[serde(flatten)]
    run: Run,
}

/// All runs, in the order in which they were started.
pub(crate) struct Runs {
    ids: SplitMix64,
    all: Vec<ListedRun>,
}

impl Runs {
    pub(crate) fn new(options: &Options, started: Timestamp) -> Self {
        let seed = options.seed.rotate_left(32) ^ started.0;
        Self {
            // Ids differ between runs of the simulator.
            ids: SplitMix64::named(seed, "automations"),
            all: Vec::new(),
        }
    }

    fn start(&mut self, project_id: String, automation: String) -> Run {
        let run = Run {
            automation,
            instance: self.ids.object_id(),
            job: self.ids.uuid(),
        };
        self.all.push(ListedRun {
            project_id,
            run: run.clone(),
        });
        run
    }

    pub(crate) fn all(&self) -> &[ListedRun] {
        &self.all
    }

    /// Removes all runs. Ids are not reused.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}
