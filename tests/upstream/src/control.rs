//! The control API, which the real platform does not have.

mod deployments;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent_job::{AgentJob, Forced, Job, Jobs};
use crate::api_error::ApiError;
use crate::auth::KeyState;
use crate::clock::Timestamp;
use crate::date::Day;
use crate::fault::FaultRule;
use crate::limits::LimitSettings;
use crate::platform::Platform;
use crate::random_faults::{FaultRate, RandomFaults};
use crate::reports;
use crate::request_log::{Counters, Reads, Received};

type Shared = State<Arc<Platform>>;

pub(crate) fn router() -> Router<Arc<Platform>> {
    Router::new()
        .route("/counters", get(counters))
        .route("/requests", get(requests))
        .route("/reset", post(reset))
        .route("/faults", post(queue_fault).delete(clear_faults))
        .route(
            "/fault-rate",
            get(fault_rate)
                .post(set_fault_rate)
                .delete(clear_fault_rate),
        )
        .route("/release", post(release))
        .route("/clock", get(clock).post(move_clock))
        .route("/late", post(set_late))
        .route("/limits", post(set_limits))
        .route("/analytics", get(reports::get_all))
        .route("/rows", get(reports::get_rows))
        .route("/keys", post(set_key))
        .route("/jobs", get(jobs))
        .route("/jobs/{id}", get(job).post(force_job).put(add_job))
        .route(
            "/deployments",
            get(deployments::list).post(deployments::queue_course),
        )
        .route(
            "/deployments/{id}",
            get(deployments::get)
                .post(deployments::force)
                .put(deployments::add),
        )
        .route("/automation-runs", get(deployments::runs))
        .fallback(async || ApiError::NoSuchRoute)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
}

async fn counters(State(platform): Shared) -> Json<Counters> {
    let mut counters = platform.request_log.counters();
    counters.held = platform.held.count();
    Json(counters)
}

async fn requests(State(platform): Shared) -> Json<Vec<Value>> {
    let to_json = |received: Arc<Received>| serde_json::to_value(&*received).unwrap_or_default();
    let requests = platform.request_log.requests();
    Json(requests.into_iter().map(to_json).collect())
}

async fn reset(State(platform): Shared) -> StatusCode {
    platform.reset();
    StatusCode::NO_CONTENT
}

async fn queue_fault(State(platform): Shared, Json(rule): Json<FaultRule>) -> StatusCode {
    platform.faults.lock().push(rule);
    StatusCode::CREATED
}

async fn clear_faults(State(platform): Shared) -> StatusCode {
    platform.faults.lock().clear();
    StatusCode::NO_CONTENT
}

async fn fault_rate(State(platform): Shared) -> Json<Value> {
    Json(json!({ "injected": platform.random_faults.lock().injected() }))
}

async fn set_fault_rate(State(platform): Shared, Json(rate): Json<FaultRate>) -> StatusCode {
    *platform.random_faults.lock() = RandomFaults::new(rate);
    StatusCode::NO_CONTENT
}

async fn clear_fault_rate(State(platform): Shared) -> StatusCode {
    platform.random_faults.lock().stop();
    StatusCode::NO_CONTENT
}

/// Releases all held requests and removes the queued holds.
async fn release(State(platform): Shared) -> StatusCode {
    platform.faults.lock().drop_holds();
    platform.held.release();
    StatusCode::NO_CONTENT
}

async fn clock(State(platform): Shared) -> Json<Value> {
    let now = platform.clock.now();
    Json(json!({ "now": now.0, "today": now.day().to_string() }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Move {
    forward_ms: u64,
}

async fn move_clock(state: Shared, Json(Move { forward_ms }): Json<Move>) -> Json<Value> {
    state.clock.advance(forward_ms);
    clock(state).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LateCounts {
    day: String,
    percent: u64,
}

async fn set_late(
    State(platform): Shared,
    Json(LateCounts { day, percent }): Json<LateCounts>,
) -> Result<StatusCode, ApiError> {
    let day = Day::parse(&day).ok_or(ApiError::InvalidRequest("day must be a date"))?;
    platform.sites.lock().late.add_growth(day, percent);
    Ok(StatusCode::NO_CONTENT)
}

async fn set_limits(State(platform): Shared, Json(settings): Json<LimitSettings>) -> StatusCode {
    platform.limits.lock().set(settings);
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeySetting {
    key: String,
    name: String,
    state: KeyState,
}

async fn set_key(
    State(platform): Shared,
    Json(KeySetting { key, name, state }): Json<KeySetting>,
) -> StatusCode {
    platform.keys.lock().set(&key, &name, state);
    StatusCode::NO_CONTENT
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedJob {
    project_id: String,
    prompt: String,
    messages: Vec<String>,
    reads: Reads,
    #[serde(flatten)]
    job: AgentJob,
}

impl ListedJob {
    fn new(job: &Job, jobs: &Jobs, platform: &Platform) -> Self {
        let keys = platform.keys.lock();
        Self {
            reads: platform.request_log.reads(job.id()),
            project_id: job.project.clone(),
            prompt: keys.scrub(job.prompt()),
            messages: job.messages().map(|message| keys.scrub(message)).collect(),
            job: job.at(platform.clock.now(), jobs.duration_ms),
        }
    }
}

async fn jobs(State(platform): Shared) -> Json<Vec<ListedJob>> {
    let jobs = platform.jobs.lock();
    let listed = jobs.iter().map(|job| ListedJob::new(job, &jobs, &platform));
    Json(listed.collect())
}

async fn job(State(platform): Shared, Path(id): Path<String>) -> Result<Json<ListedJob>, ApiError> {
    let jobs = platform.jobs.lock();
    let job = jobs.find(&id).ok_or(ApiError::JobNotFound)?;
    Ok(Json(ListedJob::new(job, &jobs, &platform)))
}

async fn force_job(
    State(platform): Shared,
    Path(id): Path<String>,
    Json(fields): Json<Forced>,
) -> Result<StatusCode, ApiError> {
    let mut jobs = platform.jobs.lock();
    jobs.find_mut(&id)
        .ok_or(ApiError::JobNotFound)?
        .force(fields);
    Ok(StatusCode::NO_CONTENT)
}

/// A job or deployment from before the start of the simulator.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Earlier {
    project_id: String,
    created_at: u64,
}

async fn add_job(
    State(platform): Shared,
    Path(id): Path<String>,
    Json(earlier): Json<Earlier>,
) -> StatusCode {
    let started_at = Timestamp(earlier.created_at);
    platform.jobs.lock().add(id, earlier.project_id, started_at);
    StatusCode::NO_CONTENT
}
