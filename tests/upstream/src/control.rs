//! The control API, which the real platform does not have.

mod deployments;
mod reports;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent_job::{AgentJob, Forced, Job};
use crate::api_error::ApiError;
use crate::auth::{KeyState, Keys};
use crate::clock::Timestamp;
use crate::data::{Growth, ReportingDelay};
use crate::date::Day;
use crate::fault::FaultRule;
use crate::field::Field;
use crate::limits::{HOUR_MS, MINUTE_MS, TEN_SECONDS_MS};
use crate::origin::Origin;
use crate::platform::Platform;
use crate::random_faults::{FaultRate, FaultRateReport, RandomFaults};
use crate::request_log::{Counters, Reads, Received, RequestLog};

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
        .route("/limits", post(set_limits).delete(restore_limits))
        .route("/views", get(reports::views))
        .route("/analytics", get(reports::analytics))
        .route("/rows", get(reports::rows))
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
    Json(
        platform
            .request_log
            .requests()
            .into_iter()
            .map(to_json)
            .collect(),
    )
}

async fn reset(State(platform): Shared) -> StatusCode {
    platform.reset();
    StatusCode::NO_CONTENT
}

async fn queue_fault(State(platform): Shared, body: Bytes) -> Result<Response, InvalidBody> {
    let rule: FaultRule = read(&body)?;
    let mut faults = platform.faults.lock();
    faults.push(rule);
    let queued = json!({ "queued": faults.len() });
    Ok((StatusCode::CREATED, Json(queued)).into_response())
}

async fn clear_faults(State(platform): Shared) -> StatusCode {
    platform.faults.lock().clear();
    StatusCode::NO_CONTENT
}

async fn fault_rate(State(platform): Shared) -> Json<FaultRateReport> {
    Json(platform.random_faults.lock().report())
}

async fn set_fault_rate(State(platform): Shared, body: Bytes) -> Result<StatusCode, InvalidBody> {
    let rate: FaultRate = read(&body)?;
    *platform.random_faults.lock() = RandomFaults::new(rate);
    Ok(StatusCode::NO_CONTENT)
}

async fn clear_fault_rate(State(platform): Shared) -> StatusCode {
    platform.random_faults.lock().stop();
    StatusCode::NO_CONTENT
}

/// Releases the oldest `count` held requests. Without `count`, releases all of them and removes
/// the queued holds.
async fn release(State(platform): Shared, body: Bytes) -> Result<Json<Value>, InvalidBody> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Release {
        count: Option<usize>,
    }

    let Release { count } = read_or_default(&body)?;
    if count.is_none() {
        platform.faults.lock().drop_holds();
    }
    let released = platform.held.release(count.unwrap_or(usize::MAX));
    Ok(Json(json!({ "released": released })))
}

async fn clock(State(platform): Shared) -> Json<Value> {
    let now = platform.clock.now();
    Json(json!({ "now": now.0, "today": now.day().to_string() }))
}

async fn move_clock(state: Shared, body: Bytes) -> Result<Json<Value>, InvalidBody> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Move {
        forward_ms: u64,
    }

    let Move { forward_ms } = read(&body)?;
    state.clock.advance(forward_ms);
    Ok(clock(state).await)
}

async fn set_late(State(platform): Shared, body: Bytes) -> Result<Response, InvalidBody> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Setting {
        Day { day: String, percent: u32 },
        ReportingDelay(ReportingDelay),
    }

    let setting: Setting = read(&body)?;
    let late = &mut platform.sites.lock().late;
    match setting {
        Setting::ReportingDelay(delay) => late.set_delay(delay),
        Setting::Day { day, percent } => {
            let Some(day) = Day::parse(&day) else {
                return Ok(ApiError::InvalidRequest("day must be a date").into_response());
            };
            late.add_growth(Growth {
                day,
                percent: percent.into(),
            });
        }
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn set_limits(State(platform): Shared, body: Bytes) -> Result<StatusCode, InvalidBody> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
    struct Settings {
        create: Field<u32>,
        message: Field<u32>,
        analytics: Field<u32>,
        deployment: Field<u32>,
        preview: Field<u32>,
        window_ms: Option<u64>,
    }

    let settings: Settings = read(&body)?;
    for (limit, uses, window_ms) in [
        (&platform.create_limit, settings.create, HOUR_MS),
        (&platform.message_limit, settings.message, HOUR_MS),
        (&platform.analytics_limit, settings.analytics, HOUR_MS),
        (
            &platform.deployment_limit,
            settings.deployment,
            TEN_SECONDS_MS,
        ),
        (&platform.preview_limit, settings.preview, MINUTE_MS),
    ] {
        let mut limit = limit.lock();
        let uses = uses.value_or(limit.uses());
        limit.set(uses, settings.window_ms.unwrap_or(window_ms));
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_limits(State(platform): Shared) -> StatusCode {
    platform.restore_limits();
    StatusCode::NO_CONTENT
}

async fn set_key(State(platform): Shared, body: Bytes) -> Result<StatusCode, ApiError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Setting {
        key: Option<String>,
        name: Option<String>,
        state: KeyState,
    }

    // The error of the JSON parser could contain a part of the key.
    let Setting { key, name, state } = serde_json::from_slice(&body).map_err(|_| {
        ApiError::InvalidRequest("body must be {key, name?, state} with a known state")
    })?;
    let mut keys = platform.keys.lock();
    match (key, name) {
        (Some(key), name) => keys.set(&key, name.as_deref(), state),
        (None, Some(name)) if keys.set_named(&name, state) > 0 => {}
        _ => return Err(ApiError::InvalidRequest("no key has this name")),
    }
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedJob {
    project_id: String,
    prompt: String,
    messages: Vec<String>,
    origin: Origin,
    reads: Reads,
    #[serde(flatten)]
    job: AgentJob,
}

impl ListedJob {
    fn new(
        job: &Job,
        (now, duration_ms): (Timestamp, u64),
        keys: &Keys,
        request_log: &RequestLog,
    ) -> Self {
        Self {
            origin: job.origin.clone(),
            reads: request_log.reads(job.id()),
            project_id: job.project.clone(),
            prompt: keys.scrub(job.prompt()),
            messages: job.messages().map(|message| keys.scrub(message)).collect(),
            job: job.at(now, duration_ms),
        }
    }
}

async fn jobs(State(platform): Shared) -> Json<Vec<ListedJob>> {
    let now = platform.clock.now();
    let keys = platform.keys.lock();
    let jobs = platform.jobs.lock();
    let time = (now, jobs.duration_ms);
    Json(
        jobs.iter()
            .map(|job| ListedJob::new(job, time, &keys, &platform.request_log))
            .collect(),
    )
}

async fn job(State(platform): Shared, Path(id): Path<String>) -> Result<Json<ListedJob>, ApiError> {
    let now = platform.clock.now();
    let keys = platform.keys.lock();
    let jobs = platform.jobs.lock();
    let job = jobs.find(&id).ok_or(ApiError::JobNotFound)?;
    let time = (now, jobs.duration_ms);
    Ok(Json(ListedJob::new(
        job,
        time,
        &keys,
        &platform.request_log,
    )))
}

async fn force_job(
    State(platform): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, InvalidBody> {
    let fields: Forced = read(&body)?;
    let now = platform.clock.now();
    let mut jobs = platform.jobs.lock();
    let duration_ms = jobs.duration_ms;
    let Some(job) = jobs.find_mut(&id) else {
        return Ok(ApiError::JobNotFound.into_response());
    };
    job.force(fields);
    Ok(Json(job.at(now, duration_ms)).into_response())
}

async fn add_job(
    State(platform): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, InvalidBody> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct EarlierJob {
        project_id: String,
        created_at: u64,
    }

    let earlier: EarlierJob = read(&body)?;
    let started_at = Timestamp(earlier.created_at);
    platform.jobs.lock().add(id, earlier.project_id, started_at);
    Ok(StatusCode::NO_CONTENT)
}

/// The error for a control request with an invalid body.
struct InvalidBody(serde_json::Error);

impl IntoResponse for InvalidBody {
    fn into_response(self) -> Response {
        let error = json!({ "error": self.0.to_string() });
        (StatusCode::BAD_REQUEST, Json(error)).into_response()
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, InvalidBody> {
    serde_json::from_slice(body).map_err(InvalidBody)
}

/// Parses a body that may be absent.
fn read_or_default<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, InvalidBody> {
    if body.is_empty() {
        return Ok(T::default());
    }
    read(body)
}
