//! The object of one project: its budgets, its idempotency keys, the ledger of its jobs and those
//! who watch them. One Durable Object per project, so that what it decides is exact.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use js_sys::Promise;
use quillgate::{Endpoint as _, GetAgentJob, JobId, JobStatus, Method, Millis, ProjectId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, State, WebSocketPair, durable_object};

use super::budget_store::{BUDGET_TABLES, BudgetStore, Claimant, Slot};
use super::idempotency_store::{Begun, IDEMPOTENCY_TABLES, IdempotencyStore};
use super::job_store::{JOB_TABLES, JobRow, JobStore, MISSING_JOBS};
use super::outbox::{OUTBOX_TABLES, Outbox};
use super::rpc::{ListCall, PROBLEM_HEADER, WriteCall, WriteReply, receive, send_back};
use super::schema::migrate;
use crate::config::Config;
use crate::events::JobEvent;
use crate::jobs::idempotency::{self, Settlement, Verdict};
use crate::jobs::ledger::decode_cursor;
use crate::jobs::poll::{Audience, compute_pause, is_lost, is_past_creation, is_poll_due};
use crate::jobs::webhook::JobEnd;
use crate::log::{
    ExchangeMetrics, ProjectBudgets, ProjectHealth, RequestMetrics, format_lost_job,
    format_operator_line,
};
use crate::plan::Write;
use crate::platform::{
    Call, Database, Exchange, HostError, HostResult, JobSnapshot, SharedTask, UpstreamClient,
    breaker_state, config, into_promise, log_error, make_response, new_uuid, now,
};
use crate::policy::Policy;
use crate::problem::ProblemKind;
use crate::response::GatewayResponse;
use crate::trace::continue_trace;
use crate::upstream::UpstreamRequest;
use crate::watch::WatchCall;

const STEPS: [&str; 5] = [
    BUDGET_TABLES,
    IDEMPOTENCY_TABLES,
    JOB_TABLES,
    OUTBOX_TABLES,
    MISSING_JOBS,
];
/// The `readyState` of a socket that takes messages.
const OPEN: u16 = 1;
/// The code of a socket that is closed because all is said (RFC 6455, section 7.4.1).
const NORMAL_CLOSURE: u16 = 1000;

/// The object as the runtime has it.
#[durable_object(alarm)]
pub struct ProjectGate {
    /// Why there is none, when its records cannot be opened.
    gate: HostResult<Rc<Gate>>,
}

impl DurableObject for ProjectGate {
    fn new(state: State, env: Env) -> Self {
        Self {
            gate: Gate::open(state, &env).map(Rc::new),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let url = request.inner().url();
        let call = WatchCall::from_url(&url);
        let call = call.ok_or_else(|| HostError::new("not an address of this object"))?;
        Ok(self.gate()?.watch(call).await?)
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.gate()?.on_alarm().await?;
        Response::empty()
    }
}

#[wasm_bindgen]
impl ProjectGate {
    /// Carries out a request that writes: a [`WriteCall`], answered by a [`WriteReply`].
    pub fn write(&self, call: JsValue) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.write(receive(call)?).await?) })
    }

    /// Lists jobs: a [`ListCall`], answered by a [`GatewayResponse`].
    pub fn list(&self, call: JsValue) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.list(receive(call)?).await?) })
    }

    /// What an operator is told: a [`ProjectHealth`].
    pub fn health(&self) -> Result<JsValue, JsValue> {
        Ok(send_back(&self.gate()?.health()?)?)
    }
}

#[cfg(feature = "trap-route")]
#[wasm_bindgen]
impl ProjectGate {
    /// Traps.
    #[expect(
        clippy::unused_self,
        reason = "a method of the class that the entry calls"
    )]
    pub fn trap(&self) -> Promise {
        crate::platform::trap_later()
    }
}

impl ProjectGate {
    fn gate(&self) -> HostResult<Rc<Gate>> {
        self.gate.clone()
    }
}

/// What is in memory of a job that is polled.
#[derive(Default)]
struct PollState {
    running: Option<RunningPoll>,
    /// How often the upstream has failed in a row to answer about it.
    failures: u32,
}

/// A poll that is under way, so that many watchers share one.
struct RunningPoll {
    task: SharedTask<Exchange<JobSnapshot>>,
    /// Whether a follow-up was answered meanwhile: what the poll says is older than that.
    is_overtaken: Rc<Cell<bool>>,
}

struct Gate {
    state: State,
    config: Rc<Config>,
    database: Rc<Database>,
    budget: BudgetStore,
    keys: IdempotencyStore,
    jobs: JobStore,
    outbox: Outbox,
    /// The jobs that are being polled, or whose last poll failed.
    polls: RefCell<HashMap<String, PollState>>,
}

impl Gate {
    fn open(state: State, env: &Env) -> HostResult<Self> {
        let config = config(env)?;
        let database = Rc::new(Database::new(state.storage()));
        migrate(&database, &STEPS)?;
        Ok(Self {
            budget: BudgetStore::open(Rc::clone(&database), Rc::clone(&config))?,
            keys: IdempotencyStore::open(Rc::clone(&database))?,
            jobs: JobStore::open(Rc::clone(&database)),
            outbox: Outbox::open(Rc::clone(&database), Rc::clone(&config)),
            polls: RefCell::default(),
            state,
            config,
            database,
        })
    }

    // --- writing -----------------------------------------------------------

    /// Carries out a request that writes, unless its key or the budget says otherwise.
    async fn write(self: Rc<Self>, WriteCall { call, write }: WriteCall) -> HostResult<WriteReply> {
        self.jobs.remember_project(&call.project)?;
        if let Some(response) = self.find_repeated(&call, &write)? {
            return Ok(WriteReply {
                response,
                metrics: RequestMetrics::default(),
            });
        }
        let (slot, begun) = match self.admit(&call, &write)? {
            Ok(admitted) => admitted,
            Err(refusal) => return Ok(refusal),
        };
        let budget_left = Some(slot.left);
        let gate = Rc::clone(&self);
        // The caller may leave; what was begun is brought to its end.
        let task = SharedTask::spawn(&self.state, async move {
            gate.carry_out(&call, &write, &begun, slot).await
        })?;
        let (response, upstream) = task.wait().await??;
        Ok(WriteReply {
            response,
            metrics: RequestMetrics {
                upstream: Some(upstream),
                budget_left,
                ..RequestMetrics::default()
            },
        })
    }

    /// The answer that the idempotency key leads to; `None` when there is work to do.
    fn find_repeated(&self, call: &Call, write: &Write) -> HostResult<Option<GatewayResponse>> {
        let Some(key) = &write.key else {
            return Ok(None);
        };
        let Some(row) = self.keys.find(&write.caller, key)? else {
            return Ok(None);
        };
        let record = row.record();
        let verdict = idempotency::decide(Some(&record), &write.fingerprint, write.retry, now());
        Ok(match verdict {
            Verdict::Fresh | Verdict::Again => None,
            Verdict::Replay => Some(row.response().ok_or_else(|| {
                HostError::new("what is stored under an idempotency key cannot be read")
            })?),
            Verdict::Refused(problem) => Some(GatewayResponse::problem(&problem, &call.id)),
        })
    }

    /// Takes a slot of the budget and writes down that the request is carried out, or gives the
    /// answer that says why it is not.
    fn admit(&self, call: &Call, write: &Write) -> HostResult<Result<(Slot, Begun), WriteReply>> {
        let claimant = Claimant {
            policy: write.policy,
            caller: write.caller.clone(),
            quota: write.quota,
        };
        let mut reserved = None;
        let admitted = self.database.transaction(|| {
            Ok(match self.budget.reserve(&claimant)? {
                Ok(slot) => {
                    reserved = Some(slot.id);
                    Ok((slot, self.keys.begin(write)?))
                }
                Err(refused) => Err(refused),
            })
        });
        if let (Err(_), Some(id)) = (&admitted, reserved) {
            self.budget.forget(id);
        }
        Ok(admitted?.map_err(|refused| WriteReply {
            response: GatewayResponse::problem(&refused.problem, &call.id),
            metrics: RequestMetrics {
                budget_left: Some(0),
                ..RequestMetrics::default()
            },
        }))
    }

    async fn carry_out(
        self: Rc<Self>,
        call: &Call,
        write: &Write,
        begun: &Begun,
        slot: Slot,
    ) -> HostResult<(GatewayResponse, ExchangeMetrics)> {
        let request = UpstreamRequest {
            method: Method::Post,
            target: write.target.clone(),
            body: Some(write.body.clone()),
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let client = UpstreamClient::new(&self.config);
        let Exchange { metrics, outcome } = client.take_snapshot(&request).await;
        let (response, settlement) = match &outcome {
            Ok(reply) => (
                GatewayResponse::json(reply.http_status, String::from(&reply.text)),
                Settlement::Store,
            ),
            Err(failure) => (
                GatewayResponse::problem(&failure.problem, &call.id),
                failure.settlement,
            ),
        };
        let settled = self.database.transaction(|| {
            self.budget.conclude(&slot, outcome.as_ref().err())?;
            self.keys.end(begun, settlement, &response)
        });
        if let Err(error) = settled {
            // Nobody can say any more what is kept: the key must not stay in use, nor be free.
            self.keys.end(begun, Settlement::Unknown, &response)?;
            return Err(error);
        }
        if let Ok(reply) = &outcome
            && let Err(error) = self.record_write(write, reply).await
        {
            // The answer is the upstream's, and known: it is given all the same.
            log_error(&format_operator_line(&format!(
                "the ledger failed: {error}"
            )));
        }
        let headers = response.headers.or(&slot.fields.into_headers());
        Ok((
            GatewayResponse {
                headers,
                ..response
            },
            metrics,
        ))
    }

    /// A job was created, or set to work again by a follow-up.
    async fn record_write(&self, write: &Write, reply: &JobSnapshot) -> HostResult<()> {
        match (&write.job, &reply.id) {
            (Some(id), _) => {
                if let Some(poll) = self.running_poll(id, |poll| Rc::clone(&poll.is_overtaken)) {
                    poll.set(true);
                }
                self.record(id, reply)?;
            }
            (None, Some(id)) => {
                if JobId::new(id.as_str()).is_err() {
                    return Err(HostError::new("a job whose id cannot be part of a path"));
                }
                self.database.transaction(|| {
                    self.jobs.add(id, write, reply)?;
                    // It may have ended in this very answer, and nothing changes after that.
                    self.announce_end(id)
                })?;
                // Nobody can wait for a job that is just created but a webhook.
                if write.webhook.is_none() {
                    return Ok(());
                }
            }
            (None, None) => return Ok(()),
        }
        self.schedule().await
    }

    // --- the ledger --------------------------------------------------------

    /// A page of the ledger, newest first, its unfinished jobs as they are now.
    async fn list(self: Rc<Self>, list: ListCall) -> HostResult<GatewayResponse> {
        let ListCall {
            call,
            limit,
            cursor,
        } = list;
        let before = match cursor.as_deref().map(decode_cursor).transpose() {
            Ok(before) => before,
            Err(problem) => return Ok(GatewayResponse::problem(&problem, &call.id)),
        };
        let now = now();
        let rows = self.jobs.page(limit, before)?;
        let stale: Vec<_> = rows
            .into_iter()
            .filter(|row| !row.is_finished() && now >= self.next_poll(row, Audience::Watchers))
            .collect();
        let mut polls = Vec::with_capacity(stale.len());
        for id in stale.iter().filter_map(JobRow::job_id) {
            polls.push(self.poll(&call, &id)?);
        }
        for poll in polls {
            poll.wait().await?;
        }
        if !stale.is_empty() {
            self.schedule().await?;
        }
        let listing = self.jobs.list(limit, before)?;
        Ok(GatewayResponse::json(200, listing.to_json()?))
    }

    /// When a job is polled next.
    fn next_poll(&self, row: &JobRow, audience: Audience) -> Millis {
        let polls = self.polls.borrow();
        let failures = polls.get(&row.id).map_or(0, |poll| poll.failures);
        row.checked_at()
            .plus(compute_pause(self.config.job_poll, audience, failures))
    }

    /// Asks the upstream for a job; whoever asks meanwhile gets the same answer.
    fn poll(
        self: &Rc<Self>,
        call: &Call,
        job: &JobId,
    ) -> HostResult<SharedTask<Exchange<JobSnapshot>>> {
        let name = job.as_str().to_owned();
        if let Some(task) = self.running_poll(&name, |poll| poll.task.clone()) {
            return Ok(task);
        }
        let project = ProjectId::new(&*call.project);
        let project = project.map_err(|error| HostError::new(error.message()))?;
        let request = UpstreamRequest {
            method: Method::Get,
            target: GetAgentJob::new(job.clone()).request(&project).target,
            body: None,
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let is_overtaken = Rc::new(Cell::new(false));
        let (gate, overtaken) = (Rc::clone(self), Rc::clone(&is_overtaken));
        let polled = name.clone();
        let task = SharedTask::spawn(&self.state, async move {
            let exchange = UpstreamClient::new(&gate.config)
                .take_snapshot(&request)
                .await;
            gate.end_poll(&polled, exchange.outcome.is_ok());
            if let Err(error) = gate.on_polled(&polled, &exchange, overtaken.get()) {
                log_error(&format_operator_line(&format!(
                    "the ledger failed: {error}"
                )));
            }
            exchange
        })?;
        let mut polls = self.polls.borrow_mut();
        polls.entry(name).or_default().running = Some(RunningPoll {
            task: task.clone(),
            is_overtaken,
        });
        Ok(task)
    }

    fn running_poll<T>(&self, job: &str, read: impl FnOnce(&RunningPoll) -> T) -> Option<T> {
        let polls = self.polls.borrow();
        polls.get(job)?.running.as_ref().map(read)
    }

    fn end_poll(&self, job: &str, is_success: bool) {
        let mut polls = self.polls.borrow_mut();
        if is_success {
            polls.remove(job);
        } else if let Some(poll) = polls.get_mut(job) {
            poll.running = None;
            poll.failures = poll.failures.saturating_add(1);
        }
    }

    fn on_polled(
        &self,
        job: &str,
        exchange: &Exchange<JobSnapshot>,
        is_overtaken: bool,
    ) -> HostResult<()> {
        if let Ok(reply) = &exchange.outcome {
            if is_overtaken {
                // Older than what a follow-up has answered meanwhile: the next poll shows.
                return self.jobs.mark_found(job);
            }
            return self.record(job, reply);
        }
        if self.jobs.find(job)?.is_none() {
            // Nobody waits for a job that is not known.
            self.polls.borrow_mut().remove(job);
        }
        self.jobs.mark_checked(job)?;
        if exchange.metrics.status == Some(404) {
            self.on_missing(job)?;
        }
        Ok(())
    }

    /// The upstream does not know a job. Shortly after its creation it may just not know it yet.
    fn on_missing(&self, job: &str) -> HostResult<()> {
        let Some(row) = self.jobs.find(job)? else {
            return Ok(());
        };
        let now = now();
        match row.missing_since() {
            None => self.jobs.mark_missing(job, now)?,
            Some(since) if is_lost(since, now) => self.give_up(&row)?,
            Some(_) => {}
        }
        if !is_past_creation(row.created(), now) {
            return Ok(());
        }
        // Whoever comes back is answered 404.
        for socket in self.state.get_websockets_with_tag(job) {
            socket.close(Some(NORMAL_CLOSURE), Some("gone"))?;
        }
        Ok(())
    }

    /// Waits no longer for a job's end, and tells its webhook so.
    fn give_up(&self, row: &JobRow) -> HostResult<()> {
        let (Some(url), Some(data)) = (&row.webhook, &row.data) else {
            return Ok(());
        };
        log_error(&format_lost_job(&row.id));
        self.database.transaction(|| {
            self.outbox.add(url, JobEnd::NotFound, data)?;
            self.jobs.forget_webhook(&row.id)
        })
    }

    /// Queues the webhook of a job, if it has one and has ended.
    fn announce_end(&self, id: &str) -> HostResult<()> {
        if let Some(row) = self.jobs.find(id)?
            && let (Some(url), Some(status), Some(data)) = (row.webhook, row.status, row.data)
            && let Some(end) = JobEnd::of(&JobStatus::from(status))
        {
            self.outbox.add(&url, end, &data)?;
        }
        Ok(())
    }

    /// Writes down how a job is; what has changed is sent to its watchers.
    fn record(&self, id: &str, reply: &JobSnapshot) -> HostResult<()> {
        let event = self.database.transaction(|| {
            let Some(event) = self.jobs.record(id, reply)? else {
                return Ok(None);
            };
            self.announce_end(id)?;
            Ok(Some(event))
        })?;
        match event {
            Some(event) => self.broadcast(id, &event),
            None => Ok(()),
        }
    }

    /// Sends a job's watchers a change, and lets them go when it is the last.
    fn broadcast(&self, job: &str, event: &JobEvent) -> HostResult<()> {
        let text = event.to_text();
        for socket in self.state.get_websockets_with_tag(job) {
            // One that is just being closed takes nothing any more: whoever comes back gets it.
            if socket.as_ref().ready_state() != OPEN {
                continue;
            }
            socket.send_with_str(&text)?;
            if event.is_final() {
                socket.close(Some(NORMAL_CLOSURE), Some("finished"))?;
            }
        }
        Ok(())
    }

    // --- watching ----------------------------------------------------------

    /// Opens a WebSocket on which a job's changes are sent, or answers why not.
    async fn watch(self: Rc<Self>, watch: WatchCall) -> HostResult<Response> {
        self.jobs.remember_project(&watch.project)?;
        if let Some(refusal) = self.bring_up_to_date(&watch).await? {
            self.schedule().await?;
            return Ok(refuse(refusal));
        }
        let events = self.jobs.events(&watch.job, watch.after)?;
        let row = self.jobs.find(&watch.job)?;
        let is_finished = row.is_some_and(|row| row.is_finished());
        if is_finished && events.is_empty() {
            return Ok(refuse(GatewayResponse::empty(204)));
        }
        let WebSocketPair { client, server } = WebSocketPair::new()?;
        // The crate's own wrapper panics at a tag that is too long.
        let tags = vec![JsValue::from_str(&watch.job)];
        let raw = self.state.as_raw();
        raw.accept_websocket_with_tags(server.as_ref(), tags)?;
        for event in events {
            server.send_with_str(event.to_text())?;
        }
        if is_finished {
            server.close(Some(NORMAL_CLOSURE), Some("finished"))?;
        }
        self.schedule().await?;
        Ok(Response::from_websocket(client)?)
    }

    /// Polls a job whose state is not known as of this interval; gives the answer that says why
    /// nothing is known of it.
    async fn bring_up_to_date(
        self: &Rc<Self>,
        watch: &WatchCall,
    ) -> HostResult<Option<GatewayResponse>> {
        let known = self.jobs.find(&watch.job)?.map(|row| row.state());
        let resumes = watch.after.is_some();
        if !is_poll_due(known, resumes, self.config.job_poll, now()) {
            return Ok(None);
        }
        let call = Call {
            id: watch.id.clone(),
            project: watch.project.clone(),
            traceparent: watch.traceparent.clone(),
            tracestate: watch.tracestate.clone(),
        };
        let job = JobId::new(&*watch.job);
        let job = job.map_err(|error| HostError::new(error.message()))?;
        let exchange = self.poll(&call, &job)?.wait().await?;
        let is_seen = known.is_some_and(|known| known.is_seen);
        Ok(match exchange.outcome {
            Ok(_) => None,
            // What is known of a job is still good when the upstream fails for a moment.
            Err(failure) if is_seen && failure.is_fault => None,
            Err(failure) => Some(GatewayResponse::problem(&failure.problem, &watch.id)),
        })
    }

    /// Polls the jobs that somebody waits for, and sends the webhooks that are due.
    async fn on_alarm(self: Rc<Self>) -> HostResult<()> {
        let id = new_uuid();
        let trace = continue_trace(None, &id.replace('-', ""));
        if let Some(project) = self.jobs.project()? {
            let call = Call {
                id,
                project,
                traceparent: trace.traceparent,
                tracestate: None,
            };
            let now = now();
            for (job, _) in self.awaited()?.into_iter().filter(|(_, at)| *at <= now) {
                let poll = self.poll(&call, &job)?;
                self.spawn(|gate| async move {
                    poll.wait().await?;
                    gate.schedule().await
                })?;
            }
            for row in self.outbox.take_due()? {
                let project = call.project.clone();
                self.spawn(|gate| async move {
                    gate.outbox.deliver(row, &project).await?;
                    gate.schedule().await
                })?;
            }
        }
        self.schedule().await
    }

    /// Begins something that takes its time, so that it does not hold up the rest: the next alarm
    /// waits for this one.
    fn spawn<F>(self: &Rc<Self>, work: impl FnOnce(Rc<Self>) -> F) -> HostResult<()>
    where
        F: Future<Output = HostResult<()>> + 'static,
    {
        let work = work(Rc::clone(self));
        SharedTask::spawn(&self.state, async move {
            if let Err(error) = work.await {
                log_error(&format_operator_line(&error.to_string()));
            }
        })?;
        Ok(())
    }

    /// Every job that somebody waits for, and when it is polled next.
    fn awaited(&self) -> HostResult<Vec<(JobId, Millis)>> {
        let mut watched: Vec<String> = Vec::new();
        for socket in self.state.get_websockets() {
            for job in self.state.get_tags(&socket) {
                if let Err(at) = watched.binary_search(&job) {
                    watched.insert(at, job);
                }
            }
        }
        let mut awaited = Vec::with_capacity(watched.len());
        for row in self.jobs.awaited()? {
            if watched.binary_search(&row.id).is_err() {
                let at = self.next_poll(&row, Audience::Webhook);
                awaited.extend(row.job_id().map(|job| (job, at)));
            }
        }
        for job in watched {
            let row = self.jobs.find(&job)?;
            let at = row.map_or(Millis(0), |row| self.next_poll(&row, Audience::Watchers));
            awaited.extend(JobId::new(job).ok().map(|job| (job, at)));
        }
        let end = now().plus(self.config.upstream_timeout);
        for (job, at) in &mut awaited {
            // A poll under way schedules when it ends; this is for an object that ends before.
            if self.running_poll(job.as_str(), |_| ()).is_some() {
                *at = end;
            }
        }
        Ok(awaited)
    }

    /// Sets the alarm for what comes next; without watchers and webhooks it is not set again.
    async fn schedule(&self) -> HostResult<()> {
        let polls = self.awaited()?.into_iter().map(|(_, at)| at);
        let next = polls.chain(self.outbox.next_due()?).min();
        let Some(next) = next else {
            return Ok(());
        };
        let next = next.max(now().plus(Millis(1)));
        self.state.storage().set_alarm(at(next)).await?;
        Ok(())
    }

    // --- health ------------------------------------------------------------

    /// What an operator is told.
    fn health(&self) -> HostResult<ProjectHealth> {
        Ok(ProjectHealth {
            breaker: breaker_state(now()),
            budgets: ProjectBudgets {
                create_job: self.budget.health(Policy::CreateJob),
                send_message: self.budget.health(Policy::SendMessage),
            },
            watchers: self.state.get_websockets().len() as u64,
            webhooks_waiting: self.outbox.waiting()?,
        })
    }
}

/// A whole answer in the place of a WebSocket.
fn refuse(response: GatewayResponse) -> Response {
    let kind = response.problem.map(ProblemKind::as_str);
    let mut headers = response.headers;
    if let Some(kind) = kind {
        headers.set(PROBLEM_HEADER, kind);
    }
    let body = response
        .body
        .as_deref()
        .map_or(JsValue::NULL, JsValue::from_str);
    make_response(response.status, &headers, &body).into()
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn at(instant: Millis) -> worker::ScheduledTime {
    worker::ScheduledTime::new(js_sys::Date::new(&(instant.0 as f64).into()))
}
