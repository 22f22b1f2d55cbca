//! The Durable Object of a project. Its limits are exact, because a single instance makes all
//! decisions for a project.

mod events;
mod poll;
mod records;
mod schedule;
mod watch;
mod write;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use js_sys::Promise;
use quillgate::{Millis, RateLimitPolicy};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, State, durable_object};

use crate::budget::limits::Limits;
use crate::budget::store::{
    BUDGET_TABLES, BudgetStore, CEILING_COLUMN, DROP_CLAIMS, DROP_TIME_INDEX, POLICY_INDEX,
    PROBE_TABLES,
};
use crate::jobs::health::{ProjectBudgets, ProjectHealth};
use crate::jobs::job_settings::{DEPLOYMENT_POLL_LIMIT, JobSettings};
use crate::jobs::machine::Timing;
use crate::jobs::poll_budget::PollBudget;
use crate::jobs::project_object::events::JobPoll;
use crate::jobs::project_stub::WatchCall;
use crate::jobs::resource::Resource;
use crate::jobs::store::JobStore;
use crate::jobs::store::idempotency::IdempotencyStore;
use crate::jobs::store::outbox::Outbox;
use crate::runtime::{
    Database, HostError, HostResult, into_promise, now, read_settings, receive, send_back,
};
use crate::upstream::breaker::{self, with_breakers};
use crate::upstream::connections::Connections;
use crate::upstream::upstream_settings::UpstreamSettings;

/// Never change or reorder released migrations: existing databases do not run a migration again.
const MIGRATIONS: &[&str] = &[
    BUDGET_TABLES,
    include_str!("store/migrations/0002_idempotency.sql"),
    include_str!("store/migrations/0003_jobs.sql"),
    include_str!("store/migrations/0004_outbox.sql"),
    CEILING_COLUMN,
    PROBE_TABLES,
    include_str!("store/migrations/0007_job_upkeep.sql"),
    include_str!("store/migrations/0008_missing_jobs.sql"),
    include_str!("store/migrations/0009_job_records.sql"),
    include_str!("store/migrations/0010_job_search.sql"),
    include_str!("store/migrations/0011_forgotten_deletions.sql"),
    include_str!("store/migrations/0012_polls.sql"),
    DROP_CLAIMS,
    include_str!("store/migrations/0014_column_names.sql"),
    include_str!("store/migrations/0015_given_up_jobs.sql"),
    POLICY_INDEX,
    include_str!("store/migrations/0017_webhook_receivers.sql"),
    include_str!("store/migrations/0018_fold_prompts.sql"),
    include_str!("store/migrations/0019_drop_search_index.sql"),
    include_str!("store/migrations/0020_drop_indexes.sql"),
    DROP_TIME_INDEX,
    include_str!("store/migrations/0022_deployments.sql"),
];
/// Of the requests that the objects of a project send.
const POLICIES: [RateLimitPolicy; 6] = [
    RateLimitPolicy::CreateJob,
    RateLimitPolicy::SendMessage,
    RateLimitPolicy::ReadJobs,
    RateLimitPolicy::CreateDeployment,
    RateLimitPolicy::CreatePreview,
    RateLimitPolicy::ReadDeployments,
];

#[durable_object(alarm)]
pub struct ProjectObject {
    /// Every call returns the error that prevented opening the project, such as an invalid setting.
    project: HostResult<Rc<Project>>,
}

impl DurableObject for ProjectObject {
    fn new(state: State, env: Env) -> Self {
        Self {
            project: Project::open(state, &env).map(Rc::new),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let url = request.inner().url();
        let call = WatchCall::from_url(&url);
        let call = call.ok_or_else(|| HostError::new("not an address of this object"))?;
        Ok(self.project.clone()?.watch(call).await?)
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.project.clone()?.on_alarm().await?;
        Response::empty()
    }
}

#[wasm_bindgen]
impl ProjectObject {
    pub fn write(&self, ids: JsValue, write: JsValue) -> Result<Promise, JsValue> {
        let project = self.project.clone()?;
        let writer = Rc::clone(&project);
        let written = into_promise(async move {
            send_back(&writer.write(&receive(ids)?, &receive(write)?).await?)
        });
        // The write continues if the caller disconnects.
        project.state.as_raw().wait_until(&written)?;
        Ok(written)
    }

    pub fn list(&self, ids: JsValue, query: JsValue) -> Promise {
        let project = self.project.clone();
        into_promise(
            async move { send_back(&project?.list(&receive(ids)?, &receive(query)?).await?) },
        )
    }

    #[wasm_bindgen(js_name = readRecord)]
    pub fn read_record(&self, ids: JsValue, job: String) -> Promise {
        let project = self.project.clone();
        into_promise(async move { send_back(&project?.read_record(receive(ids)?, &job).await?) })
    }

    #[wasm_bindgen(js_name = findStoredJob)]
    pub fn find_stored_job(&self, job: &str) -> Result<Option<String>, JsValue> {
        let row = self.project.clone()?.jobs.find(job)?;
        Ok(row.map(|row| row.data))
    }

    #[wasm_bindgen(js_name = findNewJob)]
    pub fn find_new_job(&self, job: &str) -> Result<Option<String>, JsValue> {
        Ok(self.project.clone()?.find_new_job(job)?)
    }

    #[wasm_bindgen(js_name = liftBlock)]
    pub fn lift_block(&self, policy: JsValue) -> Result<(), JsValue> {
        let project = self.project.clone()?;
        Ok(project.budget.lift_block(receive(policy)?)?)
    }

    #[wasm_bindgen(js_name = deleteRecord)]
    pub fn delete_record(&self, job: String) -> Promise {
        let project = self.project.clone();
        into_promise(async move { Ok(project?.delete_record(&job).await?.into()) })
    }

    pub fn health(&self) -> Result<JsValue, JsValue> {
        Ok(send_back(&self.project.clone()?.health()?)?)
    }
}

#[cfg(feature = "trap-route")]
#[wasm_bindgen]
impl ProjectObject {
    #[expect(
        clippy::unused_self,
        reason = "a method of the class that the entry calls"
    )]
    pub fn trap(&self) -> Promise {
        crate::runtime::trap::trap_later()
    }
}

struct Project {
    state: State,
    settings: JobSettings,
    upstream: UpstreamSettings,
    database: Rc<Database>,
    budget: BudgetStore,
    keys: IdempotencyStore,
    jobs: JobStore,
    outbox: Outbox,
    connections: Connections,
    timing: Timing,
    /// For a new stub of the organization's object at each call. After an exception, every further
    /// call of the same stub fails.
    env: Env,
    /// By job id: each running poll, failed poll, or poll for which a watcher was charged.
    polls: RefCell<HashMap<String, JobPoll>>,
    /// Since this instance started.
    polls_started: Cell<u64>,
    alarm: Cell<Option<Millis>>,
    /// When the next record expires, rounded up. 0 until this instance has set an alarm.
    sweep_at: Cell<Millis>,
    /// Since this instance started.
    alarms: Cell<u64>,
}

impl Project {
    fn open(state: State, env: &Env) -> HostResult<Self> {
        let limits = read_settings(env, Limits::read)?;
        let upstream = read_settings(env, |variables| UpstreamSettings::read(variables, &limits))?;
        let settings = read_settings(env, |variables| JobSettings::read(variables, &limits))?;
        let database = Rc::new(Database::new(state.storage()));
        let connections = Connections::default();
        database.migrate(MIGRATIONS)?;
        Ok(Self {
            budget: BudgetStore::open(Rc::clone(&database), limits, upstream.timeout)?,
            keys: IdempotencyStore::open(Rc::clone(&database)),
            jobs: JobStore::open(Rc::clone(&database), settings.poll_budget.window)?,
            outbox: Outbox::open(
                Rc::clone(&database),
                settings.webhook.clone(),
                connections.clone(),
            ),
            connections,
            timing: Timing {
                poll_interval: settings.poll_interval,
                webhook_poll_interval: settings.webhook_poll_interval,
                poll_duration: settings.poll_duration,
                timeout: upstream.timeout,
            },
            env: env.clone(),
            polls: RefCell::default(),
            polls_started: Cell::new(0),
            alarm: Cell::new(None),
            sweep_at: Cell::new(Millis(0)),
            alarms: Cell::new(0),
            state,
            settings,
            upstream,
            database,
        })
    }

    fn poll_budget(&self) -> PollBudget {
        let mut budget = self.settings.poll_budget;
        if self.jobs.resource() == Resource::Deployment {
            budget.limit = DEPLOYMENT_POLL_LIMIT;
        }
        budget
    }

    fn health(&self) -> HostResult<ProjectHealth> {
        let project = self.jobs.project();
        Ok(ProjectHealth {
            // If the project's id is not stored yet, this object has not sent any request.
            breaker: project.map_or(breaker::State::Closed, |project| {
                with_breakers(|breakers| breakers.state(&POLICIES, Some(project), now()))
            }),
            budgets: ProjectBudgets {
                create_job: self.budget.health(RateLimitPolicy::CreateJob)?,
                send_message: self.budget.health(RateLimitPolicy::SendMessage)?,
            },
            watchers: self.state.get_websockets().len() as u64,
            webhooks_waiting: self.outbox.waiting()?,
            alarms: self.alarms.get(),
        })
    }
}
