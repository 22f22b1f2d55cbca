//! The control routes: outside the API, for tests only.

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
use crate::auth::{KeyState, Keys};
use crate::clock::Moment;
use crate::data::{Growth, Recent};
use crate::date::Day;
use crate::fault::Order;
use crate::field::Field;
use crate::holes::Hole;
use crate::ledger::{Counters, Ledger, Reads, Received};
use crate::limits::HOUR_MS;
use crate::origin::Origin;
use crate::platform::Platform;
use crate::random_faults::{FaultRate, Injected, RandomFaults};
use crate::refusal::Refusal;

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
        .route("/late", post(set_late).delete(clear_late))
        .route("/holes", post(dig_hole).delete(fill_holes))
        .route(
            "/limits",
            get(limits).post(set_limits).delete(restore_limits),
        )
        .route("/views", get(reports::views))
        .route("/analytics", get(reports::analytics))
        .route("/rows", get(reports::rows))
        .route("/keys", post(set_key).delete(restore_keys))
        .route("/jobs", get(jobs))
        .route("/jobs/{id}", get(job).post(force_job).put(add_job))
        .fallback(async || Refusal::NoSuchRoute)
        .method_not_allowed_fallback(async || Refusal::MethodNotAllowed)
}

async fn counters(State(platform): Shared) -> Json<Counters> {
    let mut counters = platform.ledger.counters();
    counters.held = platform.held.count();
    Json(counters)
}

async fn requests(State(platform): Shared) -> Json<Vec<Value>> {
    let shown = |received: Arc<Received>| serde_json::to_value(&*received).unwrap_or_default();
    Json(platform.ledger.requests().into_iter().map(shown).collect())
}

async fn reset(State(platform): Shared) -> StatusCode {
    platform.reset();
    StatusCode::NO_CONTENT
}

async fn queue_fault(State(platform): Shared, body: Bytes) -> Result<Response, BadInput> {
    let order: Order = read(&body)?;
    let mut faults = platform.faults.lock();
    faults.push(order);
    let queued = json!({ "queued": faults.len() });
    Ok((StatusCode::CREATED, Json(queued)).into_response())
}

async fn clear_faults(State(platform): Shared) -> StatusCode {
    platform.faults.lock().clear();
    StatusCode::NO_CONTENT
}

async fn fault_rate(State(platform): Shared) -> Json<Injected> {
    Json(platform.random_faults.lock().report())
}

async fn set_fault_rate(State(platform): Shared, body: Bytes) -> Result<StatusCode, BadInput> {
    let rate: FaultRate = read(&body)?;
    *platform.random_faults.lock() = RandomFaults::new(rate);
    Ok(StatusCode::NO_CONTENT)
}

async fn clear_fault_rate(State(platform): Shared) -> StatusCode {
    platform.random_faults.lock().stop();
    StatusCode::NO_CONTENT
}

/// Lets held requests go on: all of them, and then none is held any more, or
/// only the oldest.
async fn release(State(platform): Shared, body: Bytes) -> Result<Json<Value>, BadInput> {
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

async fn move_clock(state: Shared, body: Bytes) -> Result<Json<Value>, BadInput> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Move {
        forward_ms: u64,
    }

    let Move { forward_ms } = read(&body)?;
    state.clock.forward(forward_ms);
    Ok(clock(state).await)
}

async fn set_late(State(platform): Shared, body: Bytes) -> Result<Response, BadInput> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Setting {
        Day { day: String, percent: u32 },
        Recent(Recent),
    }

    let setting: Setting = read(&body)?;
    let late = &mut platform.sites.lock().late;
    match setting {
        Setting::Recent(recent) => late.hold_back(recent),
        Setting::Day { day, percent } => {
            let Some(day) = Day::parse(&day) else {
                return Ok(Refusal::InvalidRequest("day must be a date").into_response());
            };
            late.grow(Growth {
                day,
                percent: percent.into(),
            });
        }
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn clear_late(State(platform): Shared) -> StatusCode {
    platform.sites.lock().late.clear();
    StatusCode::NO_CONTENT
}

async fn dig_hole(State(platform): Shared, body: Bytes) -> Result<StatusCode, BadInput> {
    let hole: Hole = read(&body)?;
    platform.holes.lock().dig(hole);
    Ok(StatusCode::NO_CONTENT)
}

async fn fill_holes(State(platform): Shared) -> StatusCode {
    platform.holes.lock().clear();
    StatusCode::NO_CONTENT
}

async fn limits(State(platform): Shared) -> Json<Value> {
    Json(json!({
        "create": platform.create_limit.lock().uses(),
        "message": platform.message_limit.lock().uses(),
        "analytics": platform.analytics_limit.lock().uses(),
    }))
}

async fn set_limits(State(platform): Shared, body: Bytes) -> Result<StatusCode, BadInput> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
    struct Settings {
        create: Field<u32>,
        message: Field<u32>,
        analytics: Field<u32>,
        window_ms: u64,
    }

    impl Default for Settings {
        fn default() -> Self {
            Self {
                create: Field::LeftAlone,
                message: Field::LeftAlone,
                analytics: Field::LeftAlone,
                window_ms: HOUR_MS,
            }
        }
    }

    let settings: Settings = read(&body)?;
    for (limit, uses) in [
        (&platform.create_limit, settings.create),
        (&platform.message_limit, settings.message),
        (&platform.analytics_limit, settings.analytics),
    ] {
        let mut limit = limit.lock();
        let uses = uses.instead_of(limit.uses());
        limit.set(uses, settings.window_ms);
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_limits(State(platform): Shared) -> StatusCode {
    platform.restore_limits();
    StatusCode::NO_CONTENT
}

async fn set_key(State(platform): Shared, body: Bytes) -> Result<StatusCode, Refusal> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Setting {
        key: Option<String>,
        name: Option<String>,
        state: KeyState,
    }

    // The reader's own message could hold a part of the key.
    let Setting { key, name, state } = serde_json::from_slice(&body).map_err(|_| {
        Refusal::InvalidRequest("body must be {key, name?, state} with a known state")
    })?;
    let mut keys = platform.keys.lock();
    match (key, name) {
        (Some(key), name) => keys.set(&key, name.as_deref(), state),
        (None, Some(name)) if keys.set_named(&name, state) > 0 => {}
        _ => return Err(Refusal::InvalidRequest("no key has this name")),
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_keys(State(platform): Shared) -> StatusCode {
    platform.keys.lock().restore();
    StatusCode::NO_CONTENT
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
    fn new(job: &Job, (now, duration_ms): (Moment, u64), keys: &Keys, ledger: &Ledger) -> Self {
        Self {
            origin: job.origin.clone(),
            reads: ledger.reads(job.id()),
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
            .map(|job| ListedJob::new(job, time, &keys, &platform.ledger))
            .collect(),
    )
}

async fn job(State(platform): Shared, Path(id): Path<String>) -> Result<Json<ListedJob>, Refusal> {
    let now = platform.clock.now();
    let keys = platform.keys.lock();
    let jobs = platform.jobs.lock();
    let job = jobs.find(&id).ok_or(Refusal::JobNotFound)?;
    let time = (now, jobs.duration_ms);
    Ok(Json(ListedJob::new(job, time, &keys, &platform.ledger)))
}

async fn force_job(
    State(platform): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, BadInput> {
    let fields: Forced = read(&body)?;
    let now = platform.clock.now();
    let mut jobs = platform.jobs.lock();
    let duration_ms = jobs.duration_ms;
    let Some(job) = jobs.by_id(&id) else {
        return Ok(Refusal::JobNotFound.into_response());
    };
    job.force(fields);
    Ok(Json(job.at(now, duration_ms)).into_response())
}

async fn add_job(
    State(platform): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, BadInput> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Earlier {
        project_id: String,
        created_at: u64,
    }

    let earlier: Earlier = read(&body)?;
    let began = Moment(earlier.created_at);
    platform.jobs.lock().add(id, earlier.project_id, began);
    Ok(StatusCode::NO_CONTENT)
}

/// A control request that cannot be read; the message tells its author why.
struct BadInput(serde_json::Error);

impl IntoResponse for BadInput {
    fn into_response(self) -> Response {
        let error = json!({ "error": self.0.to_string() });
        (StatusCode::BAD_REQUEST, Json(error)).into_response()
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, BadInput> {
    serde_json::from_slice(body).map_err(BadInput)
}

/// Reads a body that may be left out.
fn read_or_default<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, BadInput> {
    if body.is_empty() {
        return Ok(T::default());
    }
    read(body)
}
