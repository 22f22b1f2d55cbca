//! Agent jobs: creation, reading, follow-ups and progress.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};

use crate::api_error::ApiError;
use crate::auth::Authorized;
use crate::clock::Timestamp;
use crate::field::Field;
use crate::json_body;
use crate::options::Options;
use crate::platform::Platform;
use crate::random::SplitMix64;

const HOST: &str = "https://github.com";
const REPOSITORY: &str = "acme/docs";
const REF: &str = "main";
const MODEL: &str = "simulated-agent-1";

pub(crate) async fn create(
    State(platform): State<Arc<Platform>>,
    Authorized { project }: Authorized,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<AgentJob>), ApiError> {
    let prompt = prompt(&headers, &body)?;
    let now = platform.clock.now();
    platform.limits.lock().create.take(&project, now)?;
    platform
        .request_log
        .count(|counters| counters.jobs_created += 1);
    let job = platform.jobs.lock().create(project, prompt, now);
    Ok((StatusCode::CREATED, Json(job)))
}

pub(crate) async fn get(
    State(platform): State<Arc<Platform>>,
    Authorized { project }: Authorized,
    Path((_, id)): Path<(String, String)>,
) -> Result<Json<AgentJob>, ApiError> {
    let now = platform.clock.now();
    if platform.options.reads_share_job_limit {
        platform.limits.lock().create.take(&project, now)?;
    }
    let jobs = platform.jobs.lock();
    let job = jobs
        .find_in_project(&project, &id)
        .ok_or(ApiError::JobNotFound)?;
    Ok(Json(job.at(now, jobs.duration_ms)))
}

pub(crate) async fn send_message(
    State(platform): State<Arc<Platform>>,
    Authorized { project }: Authorized,
    Path((_, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<AgentJob>, ApiError> {
    let prompt = prompt(&headers, &body)?;
    let now = platform.clock.now();
    let mut jobs = platform.jobs.lock();
    jobs.find_in_project(&project, &id)
        .ok_or(ApiError::JobNotFound)?;
    platform.limits.lock().message.take(&project, now)?;
    platform
        .request_log
        .count(|counters| counters.messages_sent += 1);
    let duration_ms = jobs.duration_ms;
    let job = jobs.find_mut(&id).ok_or(ApiError::JobNotFound)?;
    job.follow_up(prompt, now);
    Ok(Json(job.at(now, duration_ms)))
}

fn prompt(headers: &HeaderMap, body: &Bytes) -> Result<String, ApiError> {
    #[derive(Deserialize)]
    struct Instruction {
        prompt: String,
    }

    let invalid = "body must be an object with a string prompt";
    let instruction: Instruction = json_body::read(headers, body, invalid)?;
    if instruction.prompt.is_empty() {
        return Err(ApiError::InvalidRequest(
            "prompt must have at least 1 character",
        ));
    }
    Ok(instruction.prompt)
}

/// A job as the API returns it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentJob {
    id: String,
    status: String,
    source: Source,
    model: &'static str,
    pr_link: Option<String>,
    created_at: String,
    archived_at: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Source {
    repository: String,
    r#ref: String,
}

/// All jobs, in the order in which they were created or added.
pub(crate) struct Jobs {
    pub(crate) duration_ms: u64,
    is_live: bool,
    ids: SplitMix64,
    next_number: u64,
    all: Vec<Job>,
}

impl Jobs {
    pub(crate) fn new(options: &Options, started: Timestamp) -> Self {
        Self {
            duration_ms: options.job_duration_ms,
            is_live: options.profile.is_live(),
            // Ids differ between runs.
            ids: SplitMix64::new(options.seed.rotate_left(32) ^ started.0),
            next_number: 101,
            all: Vec::new(),
        }
    }

    fn create(&mut self, project: String, prompt: String, started_at: Timestamp) -> AgentJob {
        let id = self.ids.uuid();
        let job = self.new_job(id, project, Run { prompt, started_at });
        let created = job.at(started_at, self.duration_ms);
        self.all.push(job);
        created
    }

    /// Adds a job that was created earlier, replacing any job with the same id.
    pub(crate) fn add(&mut self, id: String, project: String, started_at: Timestamp) {
        self.all.retain(|job| job.id != id);
        let prompt = String::new();
        let job = self.new_job(id, project, Run { prompt, started_at });
        self.all.push(job);
    }

    fn new_job(&mut self, id: String, project: String, first: Run) -> Job {
        let number = self.next_number;
        self.next_number += 1;
        let repository = if self.is_live {
            format!("{HOST}/{REPOSITORY}")
        } else {
            REPOSITORY.to_owned()
        };
        Job {
            id,
            repository,
            project,
            number,
            first,
            follow_ups: Vec::new(),
            forced: Forced::default(),
        }
    }

    fn find_in_project(&self, project: &str, id: &str) -> Option<&Job> {
        self.all
            .iter()
            .find(|job| job.id == id && job.project == project)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Job> {
        self.all.iter().find(|job| job.id == id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Job> {
        self.all.iter_mut().find(|job| job.id == id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Job> {
        self.all.iter()
    }

    /// Removes all jobs. Their ids and numbers are not reused.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}

/// The history of a job, from which its state at any time follows.
pub(crate) struct Job {
    id: String,
    repository: String,
    pub(crate) project: String,
    number: u64,
    first: Run,
    follow_ups: Vec<Run>,
    forced: Forced,
}

/// The agent's work on one prompt.
struct Run {
    prompt: String,
    started_at: Timestamp,
}

/// Fields that the control API has set.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Forced {
    status: Option<String>,
    r#ref: Option<String>,
    pr_link: Field<String>,
    archived_at: Field<String>,
}

impl Job {
    /// The job as the API returns it at `now`.
    pub(crate) fn at(&self, now: Timestamp, duration_ms: u64) -> AgentJob {
        let run = self.follow_ups.last().unwrap_or(&self.first);
        let archived = run
            .archived(duration_ms)
            .filter(|archived| *archived <= now);
        let status = match archived {
            Some(_) => "archived",
            None => run.status(now, duration_ms),
        };
        let forced = &self.forced;
        AgentJob {
            id: self.id.clone(),
            status: forced.status.as_deref().unwrap_or(status).to_owned(),
            source: Source {
                repository: self.repository.clone(),
                r#ref: forced.r#ref.clone().unwrap_or_else(|| REF.to_owned()),
            },
            model: MODEL,
            pr_link: forced.pr_link.value_or(self.pr_link(now, duration_ms)),
            created_at: self.first.started_at.to_string(),
            archived_at: forced
                .archived_at
                .value_or(archived.map(|when| when.to_string())),
        }
    }

    /// The link, set once any run has finished with changes.
    ///
    /// A run that a follow-up interrupts never finishes.
    fn pr_link(&self, now: Timestamp, duration_ms: u64) -> Option<String> {
        let runs = || std::iter::once(&self.first).chain(&self.follow_ups);
        let ends = runs().skip(1).map(|next| next.started_at).chain([now]);
        let opened = runs()
            .zip(ends)
            .any(|(run, end)| end.since(run.started_at) >= duration_ms && run.makes_changes());
        opened.then(|| format!("{HOST}/{REPOSITORY}/pull/{}", self.number))
    }

    fn follow_up(&mut self, prompt: String, started_at: Timestamp) {
        self.follow_ups.push(Run { prompt, started_at });
        let r#ref = self.forced.r#ref.take();
        self.forced = Forced {
            r#ref,
            ..Forced::default()
        };
    }

    /// Sets the given fields until the next follow-up. The branch stays.
    pub(crate) fn force(&mut self, fields: Forced) {
        let forced = &mut self.forced;
        forced.status = fields.status.or(forced.status.take());
        forced.r#ref = fields.r#ref.or(forced.r#ref.take());
        forced.pr_link.replace(fields.pr_link);
        forced.archived_at.replace(fields.archived_at);
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn prompt(&self) -> &str {
        &self.first.prompt
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = &str> {
        self.follow_ups.iter().map(|run| run.prompt.as_str())
    }
}

impl Run {
    fn status(&self, now: Timestamp, duration_ms: u64) -> &str {
        let elapsed = now.since(self.started_at);
        let midway = duration_ms / 3..duration_ms - duration_ms / 3;
        match self.midway_status() {
            Some(status) if midway.contains(&elapsed) => status,
            _ if elapsed < duration_ms => "active",
            _ if self.has_directive("[fail]") => "failed",
            _ => "completed",
        }
    }

    fn midway_status(&self) -> Option<&str> {
        let (_, rest) = self.prompt.split_once("[status:")?;
        rest.split_once(']').map(|(status, _)| status)
    }

    fn archived(&self, duration_ms: u64) -> Option<Timestamp> {
        let archived = self.started_at.plus(duration_ms.saturating_mul(2));
        self.has_directive("[archive]").then_some(archived)
    }

    fn makes_changes(&self) -> bool {
        !self.has_directive("[no-changes]") && !self.has_directive("[fail]")
    }

    fn has_directive(&self, directive: &str) -> bool {
        self.prompt.contains(directive)
    }
}
